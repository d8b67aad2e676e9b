//===- Completion.cpp - Shell completion scripts --------------------------===//
#include "tools/common/Completion.h"

namespace brew::tools {
namespace {

std::string join(const std::vector<std::string> &words,
                 const std::string &separator) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : separator) + word;
  return text;
}

/// Quotes a word for the shell.
std::string quoted(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string functionName(const CompletionTool &tool) {
  std::string name = "_" + tool.name;
  for (char &c : name)
    if (c == '-')
      c = '_';
  return name;
}

//===-- bash ----------------------------------------------------------------===

std::string bashOptionNames(const std::vector<CompletionOption> &options) {
  std::vector<std::string> names;
  for (const CompletionOption &option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return join(names, " ");
}

/// Returns the cases of options with values, for `command`.
std::string bashValueCases(const std::string &command,
                           const std::vector<CompletionOption> &options) {
  std::string text;
  for (const CompletionOption &option : options) {
    if (!option.takesValue)
      continue;
    std::vector<std::string> patterns;
    for (const std::string &name : option.names) {
      patterns.push_back(quoted(command + " " + name + "="));
      if (!option.valueIsOptional)
        patterns.push_back(quoted(command + " " + name));
    }
    text += "    " + join(patterns, "|") + ")\n      COMPREPLY=($(compgen " +
            (option.values.empty() ? std::string("-f")
                                   : "-W " + quoted(join(option.values, " "))) +
            " -- \"$current\"))\n      return ;;\n";
  }
  return text;
}

std::string bashScript(const CompletionTool &tool) {
  const std::string function = functionName(tool);
  std::vector<std::string> commands;
  for (const CompletionCommand &command : tool.commands)
    commands.push_back(command.name);

  std::string text = "# bash completion for " + tool.name + "\n" + function +
                     "() {\n"
                     "  local current=${COMP_WORDS[COMP_CWORD]}\n"
                     "  local before=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "  # `=` is a separate word.\n"
                     "  if [ \"$current\" = = ]; then\n"
                     "    current= before+==\n"
                     "  elif [ \"$before\" = = ]; then\n"
                     "    before=${COMP_WORDS[COMP_CWORD-2]}=\n"
                     "  fi\n"
                     "  local command= options=" +
                     quoted(bashOptionNames(tool.options)) + "\n";
  if (!commands.empty()) {
    text += "  local word\n"
            "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
            "    case $word in\n";
    for (const CompletionCommand &command : tool.commands)
      text += "    " + command.name + ") command=" + command.name +
              " options=" + quoted(bashOptionNames(command.options)) +
              "; break ;;\n";
    text += "    esac\n  done\n";
  }
  text += "  case \"$command $before\" in\n" + bashValueCases("", tool.options);
  for (const CompletionCommand &command : tool.commands)
    text += bashValueCases(command.name, command.options);
  text += "  esac\n"
          "  if [[ $current == -* ]]; then\n"
          "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n";
  if (!commands.empty())
    text += "  elif [ -z \"$command\" ]; then\n"
            "    COMPREPLY=($(compgen -W " +
            quoted(join(commands, " ")) + " -- \"$current\"))\n";
  return text +
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F " +
         function + " " + tool.name + "\n";
}

//===-- zsh -----------------------------------------------------------------===

/// Escapes text for the brackets of an `_arguments` specification.
std::string zshEscaped(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\')
      result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string zshArguments(const std::vector<CompletionOption> &options,
                         const std::string &indent) {
  std::string text;
  for (const CompletionOption &option : options)
    for (const std::string &name : option.names) {
      // Long options take their value after `=` or as the next word.
      std::string spec = "*" + name;
      if (option.takesValue)
        spec += option.valueIsOptional          ? "=-"
                : name.compare(0, 2, "--") == 0 ? "="
                                                : "+";
      spec += "[" + zshEscaped(option.help) + "]";
      if (option.takesValue)
        spec += std::string(option.valueIsOptional ? "::" : ":") + "value:" +
                (option.values.empty() ? "_files"
                                       : "(" + join(option.values, " ") + ")");
      text += " \\\n" + indent + quoted(spec);
    }
  return text;
}

std::string zshScript(const CompletionTool &tool) {
  std::string text = "#compdef " + tool.name + "\n";
  if (tool.commands.empty())
    return text + "_arguments -s" + zshArguments(tool.options, "  ") +
           " \\\n  '*:file:_files'\n";
  std::string commands;
  for (const CompletionCommand &command : tool.commands)
    commands += (commands.empty() ? "" : " ") + command.name +
                "\\:" + quoted(zshEscaped(command.help));
  text += "local context state state_descr line\ntypeset -A opt_args\n"
          "_arguments -s -C" +
          zshArguments(tool.options, "  ") + " \\\n  " +
          quoted("1:command:((" + commands + "))") +
          " \\\n  '*::argument:->arguments'\n"
          "[[ $state == arguments ]] || return\n"
          "case $words[1] in\n";
  for (const CompletionCommand &command : tool.commands)
    text += command.name + ")\n  _arguments -s" +
            zshArguments(command.options, "    ") +
            " \\\n    '*:file:_files' ;;\n";
  return text + "esac\n";
}

} // namespace

std::string completionScript(const CompletionTool &tool,
                             const std::string &shell) {
  if (shell == "bash")
    return bashScript(tool);
  if (shell == "zsh")
    return zshScript(tool);
  return "";
}

std::string completionShell(const std::vector<std::string> &arguments) {
  const std::string flag = "--completion=";
  if (arguments.size() == 1 && arguments[0].compare(0, flag.size(), flag) == 0)
    return arguments[0].substr(flag.size());
  return "";
}

} // namespace brew::tools
