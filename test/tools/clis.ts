import { fillTemplate } from '../../plugins/setup/template.ts';
import type { ToolPackage } from '../../plugins/setup/tool.ts';
import { scriptedTools } from '../../plugins/setup/tools.ts';
import type { SetupValues } from '../../plugins/setup/values.ts';

/** A command-line tool that is installed from a registry and takes one turn without a terminal. */
export interface Cli extends ToolPackage {
  readonly id: string;
  readonly registry: 'npm' | 'pypi';
  /** The version that was seen to work. */
  readonly version: string;
  readonly command: string;
  /** The words behind its command with which it does a task. */
  parameters(prompt: string, values: TrialValues): string[];
}

type TrialValues = Pick<SetupValues, 'providerId'> & { readonly model: Pick<SetupValues['model'], 'name'> };

/**
 * The tools that name their package.
 *
 * @throws Error for one without a version, a command or words for a prompt
 */
export const clis: readonly Cli[] = scriptedTools.flatMap(({ id, npm, pypi, seen, script }) => {
  const installed = npm ?? pypi;
  if (installed === undefined) return [];
  const { commands, trial } = script;
  const [command] = commands;
  if (!seen || command === undefined || trial === undefined) throw new Error(`${id} needs seen, a command and trial`);
  const parameters: Cli['parameters'] = (prompt, values) => {
    const all = { ...values, smallModel: values.model, tiers: {} } as SetupValues;
    return [...fillTemplate(trial, all, prompt), ...(installed.allow ?? [])];
  };
  const registry = npm === undefined ? 'pypi' : 'npm';
  return [{ ...installed, id, registry, version: seen, command, parameters }];
});
