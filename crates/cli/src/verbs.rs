//! The macro for a list of commands.

/// Defines commands, each with the type that runs it, and optionally a group of further commands.
macro_rules! verbs {
    (
        $(#[$of:meta])*
        $verbs:ident { $($(#[$about:meta])* $name:ident($args:ty),)+ }
        $($(#[$when:meta])* and $group:ident($others:ty))?
    ) => {
        $(#[$of])*
        #[derive(Debug, clap::Subcommand)]
        pub enum $verbs {
            $($(#[$about])* $name($args),)+
            $(
                /// Others.
                $(#[$when])*
                #[command(flatten)]
                $group($others),
            )?
        }

        impl $verbs {
            /// Returns the parsed command.
            pub(crate) fn command(&self) -> &dyn crate::command::Command {
                match self {
                    $(Self::$name(it) => it,)+
                    $($(#[$when])* Self::$group(it) => it.command(),)?
                }
            }

            /// Returns the definition of the command with this name, without the other commands.
            pub(crate) fn only(name: &str) -> Option<clap::Command> {
                if !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
                    return None;
                }
                $(if name.eq_ignore_ascii_case(stringify!($name)) {
                    let flags = clap::Command::new(name.to_owned());
                    return Some(<$args as clap::Args>::augment_args(flags));
                })+
                $(
                    $(#[$when])*
                    {
                        return <$others>::only(name);
                    }
                )?
                #[allow(unreachable_code)]
                None
            }
        }
    };
}
pub(crate) use verbs;
