//! One-sentence messages for flags that cannot be used.

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Cli;

/// Why there is nothing to run.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Help or the version was asked for.
    Wanted(String),
    /// Something is wrong with the flags.
    Wrong(String),
}

/// Turns the parser's report into one sentence that says what to do.
pub(crate) fn refusal(error: &clap::Error, arguments: &[String]) -> Refusal {
    let help = match command_of(arguments) {
        Some(command) => format!("see `quadfill {command} --help`"),
        None => "see `quadfill --help`".to_owned(),
    };
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg).unwrap_or_default();
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let valid = text(ContextKind::ValidValue).unwrap_or_default();
    Refusal::Wrong(match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return Refusal::Wanted(error.render().to_string());
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            format!("no command is given: {help}")
        }
        ErrorKind::InvalidSubcommand => {
            let command = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("`{command}` is not a command: choose {}", names_beside(arguments).join(", "))
        }
        ErrorKind::UnknownArgument => match text(ContextKind::SuggestedArg) {
            Some(near) => format!("there is no `{flag}`: did you mean `{near}`?"),
            None if !flag.starts_with('-') => format!("`{flag}` is one argument too many: {help}"),
            None => format!("there is no `{flag}`: {help}"),
        },
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("`{flag}` needs a value: {help}")
        }
        ErrorKind::InvalidValue => format!("{}: choose {valid}", given(&flag, &value)),
        ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(error).map_or(help, ToString::to_string);
            format!("{}: {reason}", given(&flag, &value))
        }
        ErrorKind::MissingRequiredArgument => format!("{flag} is missing: {help}"),
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).unwrap_or_default();
            if other.is_empty() || flag == other {
                format!("`{flag}` is given more than once: give it once")
            } else {
                format!("`{flag}` cannot be used with `{other}`: leave one of them out")
            }
        }
        ErrorKind::InvalidUtf8 => {
            "an argument is not UTF-8: rename the file or the label".to_owned()
        }
        _ => format!("{}: {help}", first_line(&error.render().to_string())),
    })
}

/// `--flag value`, without the placeholder that the parser puts behind the flag or in its place.
fn given(flag: &str, value: &str) -> String {
    match flag.split([' ', '=']).next() {
        Some(name) if name.starts_with('-') => format!("{name} {value}"),
        _ => format!("`{value}`"),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").trim_end_matches('.').to_owned()
}

fn command_names() -> Vec<String> {
    Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// The subcommands of the given command, or all commands where it has none.
fn names_beside(arguments: &[String]) -> Vec<String> {
    let all = Cli::command();
    let given = command_of(arguments).and_then(|name| all.find_subcommand(name).cloned());
    let within = given.filter(clap::Command::has_subcommands).unwrap_or(all);
    within.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

fn command_of(arguments: &[String]) -> Option<String> {
    let names = command_names();
    arguments.iter().skip(1).find(|argument| names.contains(argument)).cloned()
}
