import type { JsonObject } from '#core/platform/json.ts';
import { objectOf } from '../conformance/conversation.ts';
import { type OfferedTool, sampleInput } from './offered-tools.ts';

/** A call of a tool that runs a command in a shell. */
export interface ShellCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** Names of tools that run a command, whatever namespace stands before them. */
const shellName =
  /(^|[^a-z])(bash|shell|shell_command|exec|exec_command|execute|execute_command|run_commands?|run_shell_command|run_terminal_command|terminal)$/i;
/** Arguments that hold the command. */
const commandNames = ['command', 'cmd', 'commands', 'script'];

/** The call that makes the client run a command; undefined when no offered tool does that. */
export function shellCall(tools: readonly OfferedTool[], command: string): ShellCall | undefined {
  for (const tool of tools.filter(({ name }) => shellName.test(name))) {
    const properties = objectOf(tool.schema['properties']);
    const member = commandNames.find((name) => name in properties);
    if (member === undefined) continue;
    const written = commandAs(objectOf(properties[member]), member, command);
    return { name: tool.name, input: { [member]: written, ...sampleInput(tool, member) } };
  }
  return undefined;
}

/** `commands` is a list of commands; a list with another name is one command in words. */
function commandAs(schema: JsonObject, member: string, command: string): JsonObject[string] {
  if (!JSON.stringify(schema).includes('"array"')) return command;
  return member === 'commands' ? [command] : ['sh', '-c', command];
}
