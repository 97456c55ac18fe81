/**
 * Runs in a tree without a capability (`check-deletion.ts`): validates gateway.yaml, once without the capability's lines and once with its
 * sections, and prints the help of every command. Prints what fails.
 *
 *     node .ci/try-commands.ts midtrans '[["telemetry"]]'
 */
import { Command as Parser } from 'commander';
import { parseDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { assembleForCommand } from '#core/extension/assembly.ts';
import pluginsOfSections from '#core/extension/validation/plugins-of-sections.json' with { type: 'json' };
import { validate } from '#core/extension/validation/validate-config.ts';
import { createLogger } from '#core/platform/logger.ts';
import { createContext } from '#core/process/commands/context.ts';
import { sampleWith, sampleWithout } from './sample-without.ts';

const [capability = '', given = '[]'] = process.argv.slice(2);
const lines = JSON.parse(given) as string[][];
const log = createLogger(() => undefined);
const { registry } = await assembleForCommand(undefined, log, () => {
  throw new Error('nothing is served');
});
const refusal = (yaml: string) => {
  try {
    validate(parseDocument(yaml, 'gateway.yaml', {}), registry);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};
const failures = [
  ...refusal(sampleWithout(lines))
    .split('\n')
    .filter((line) => line !== ''),
  ...Object.entries(pluginsOfSections)
    .filter(([, plugin]) => plugin === capability)
    .filter(([section]) => !refusal(sampleWith(section, lines)).includes(`belongs to the plugin "${capability}"`))
    .map(([section]) => `gateway.yaml with ${section} is not refused with the name of the plugin`),
  ...[...registry.commands.values()].flatMap(({ name, define }) => {
    const parser = new Parser(name);
    try {
      define(
        parser,
        createContext(() => 'gateway.yaml', log),
      );
      return findWithoutHelp(parser);
    } catch (error) {
      return [`daypass ${name} --help: ${String(error)}`];
    }
  }),
];
for (const line of failures) console.error(line);
process.exit(failures.length > 0 ? 1 : 0);

function findWithoutHelp(parser: Parser): string[] {
  const own = parser.helpInformation().includes('Usage:') ? [] : [`${parser.name()} --help prints no usage`];
  return [...own, ...parser.commands.flatMap(findWithoutHelp)];
}
