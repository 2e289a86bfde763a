use super::*;

/// Whether spans of one lane are inside each other or after each other.
fn nests(spans: &[Span]) -> bool {
    let mut open: Vec<Span> = Vec::new();
    spans.iter().all(|span| {
        open.retain(|around| around.lane == span.lane && around.end_ns() > span.start_ns);
        let inside = open.last().is_none_or(|around| span.end_ns() <= around.end_ns());
        open.push(*span);
        inside
    })
}

#[test]
fn a_thread_has_one_lane_whoever_records_and_gives_it_back() {
    let timeline = Timeline::new();
    let mut outer = timeline.recorder("outer");
    let mut inner = timeline.recorder("inner");
    inner.lap(Activity::Write, 0, 1);
    outer.lap(Activity::Parse, 0, 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| timeline.recorder("other").lap(Activity::Read, 0, 3));
        other.join().expect("it does not panic");
    });
    drop((outer, inner));
    timeline.recorder("again").lap(Activity::Read, 0, 4);
    let spans = timeline.spans();
    let told: Vec<_> = spans.iter().map(|span| (span.lane.to_string(), span.bytes)).collect();
    let expected = [("worker 0", 2), ("worker 0", 1), ("worker 0", 4), ("worker 1", 3)];
    assert_eq!(told, expected.map(|(lane, bytes)| (String::from(lane), bytes)));
    assert!(nests(&spans), "{spans:?}");
}

#[test]
fn spans_beyond_the_limit_are_counted_and_not_kept() {
    let timeline = Timeline::with_most(1500);
    let mut recorder = timeline.recorder("many");
    (0..4000).for_each(|index| recorder.lap(Activity::Read, index, 1));
    drop(recorder);
    let spans = timeline.spans();
    assert_eq!((spans.len(), timeline.dropped()), (1500, 2500));
    assert!(spans.iter().map(|span| span.offset).eq(0..1500), "the first ones are kept");
    assert_eq!(timeline.take(), spans);
    assert_eq!((timeline.spans().len(), timeline.dropped()), (0, 0));
    timeline.recorder("many").lap(Activity::Read, 0, 1);
    assert_eq!(timeline.take().len(), 1);
}

#[test]
fn a_number_names_its_file() {
    let timeline = Timeline::new();
    assert_eq!(timeline.path(0), None);
    let [first, second] = ["a", "b"].map(|path| timeline.source(Path::new(path)));
    let run = timeline.sources_of(3, |index| PathBuf::from(format!("run {index}")));
    let none = timeline.sources_of(0, |_| PathBuf::from("never"));
    let third = timeline.source(Path::new("c"));
    assert_eq!(timeline.source(Path::new("b")), second);
    let paths = [first, second, run, run + 2, third].map(|number| timeline.path(number));
    let expected = ["a", "b", "run 0", "run 2", "c"].map(|path| Some(PathBuf::from(path)));
    assert_eq!(paths, expected);
    assert_eq!((none, timeline.path(third + 1)), (third, None));
}

#[test]
fn reads_in_flight_have_the_lowest_lane_that_is_free() {
    let timeline = Timeline::new();
    let mut recorder = timeline.recorder("ring");
    let mut flights = Flights::new(Some(&timeline));
    let first = recorder.leave(&mut flights);
    let second = recorder.leave(&mut flights);
    recorder.mark();
    recorder.land(&mut flights, first, 0, 10);
    let third = recorder.leave(&mut flights);
    recorder.mark();
    recorder.land(&mut flights, third, 20, 10);
    recorder.land(&mut flights, second, 10, 10);
    drop((recorder, flights));
    let spans = timeline.spans();
    let told: Vec<_> = spans.iter().map(|span| (span.lane.index(), span.offset)).collect();
    assert_eq!(told, [(0, 0), (0, 20), (1, 10)]);
    assert!(spans.iter().all(|span| span.lane.is_in_flight()) && nests(&spans));
    let mut flights = Flights::new(Some(&timeline));
    let recorder = timeline.recorder("ring");
    let again = recorder.leave(&mut flights).lane;
    assert_eq!(again.map(Lane::index), Some(0), "a ring frees its lanes");
}
