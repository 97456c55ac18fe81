import { formatPath } from '../reader.ts';
import { fillTemplate } from '../template.ts';
import type { FilePlace, FileStep, LinesStep, ScriptedStep, ScriptedTool } from '../tool.ts';
import type { SetupValues } from '../values.ts';
import { posix, renderSettings } from '../writers.ts';

/** Texts contain placeholders such as `@KEY@`, which the script fills in. */
export type ScriptAction =
  /** If the variable is set, its value replaces the folder in paths. */
  | { readonly kind: 'place'; readonly variable: string; readonly folder: string }
  | FileAction
  /** A file in which the tool caches data from the gateway. */
  | ({ readonly kind: 'cache' } & FilePaths)
  | { readonly kind: 'variable'; readonly name: string; readonly value: string }
  /** A sentence to show once the tool is set up. */
  | { readonly kind: 'note'; readonly text: string };

interface FilePaths {
  /** `~` is the home folder, `~/.config` the folder in XDG_CONFIG_HOME. Of `a|b`, the first path that exists is used, or the last. */
  readonly path: string;
  readonly macos?: string;
  readonly windows?: string;
}

type EditOptions = { readonly [Key in 'identity' | 'initial' | 'dialect' | 'at']?: FileStep[Key] | undefined };

export interface FileAction extends FilePaths, EditOptions {
  readonly kind: 'file';
  readonly format: FileStep['format'] | LinesStep['format'];
  readonly text: string;
  /** Files that may already have initial members. A launcher without a runtime cannot read them, so it omits all initial members. */
  readonly elsewhere?: readonly FilePaths[] | undefined;
}

export function describeActions(tool: ScriptedTool, values: SetupValues): ScriptAction[] {
  const { places = [], caches = [], note } = tool.script;
  return [
    ...places.map((place) => ({ kind: 'place' as const, ...place })),
    ...caches.map((place) => ({ kind: 'cache' as const, ...describePaths(place) })),
    ...listSteps(tool, values).flatMap((step) => describeStep(step, values)),
    ...(note === undefined ? [] : [{ kind: 'note' as const, text: fillTemplate(note, values) }]),
  ];
}

/** Returns the last command meant for a terminal. */
export function formatStartCommand(tool: ScriptedTool, values: SetupValues): string | undefined {
  const commands = listSteps(tool, values).filter((step) => step.kind === 'command' && step.place === undefined);
  const last = commands.at(-1);
  return last?.kind === 'command' ? last.commands.map((words) => posix.renderCommand(words)).join('; ') : undefined;
}

function listSteps({ id, steps, script }: ScriptedTool, values: SetupValues): readonly ScriptedStep[] {
  return fillTemplate(script.steps ?? steps, values).map((step) => {
    // A tool whose steps need a person must define separate steps for the script.
    if (step.kind === 'form' || step.kind === 'sample') throw new Error(`tool "${id}" has a step that needs a person`);
    return step;
  });
}

function describeStep(step: ScriptedStep, { key }: SetupValues): ScriptAction[] {
  switch (step.kind) {
    case 'file': {
      const { place, format, settings, identity, initial, elsewhere, dialect, at } = step;
      const action = createAction(place, format, renderSettings(format, settings));
      return [{ ...action, identity, initial, elsewhere: elsewhere?.map(describePaths), dialect, at }];
    }
    case 'lines':
      return [createAction(step.place, step.format, step.lines.join('\n'))];
    case 'command':
      if (step.place === undefined) return [];
      return [createAction(step.place, 'block', step.commands.map((words) => posix.renderCommand(words)).join('\n'))];
    case 'environment': {
      const values = Object.entries(step.variables ?? {});
      if (step.key !== undefined) values.push([step.key, key]);
      return values.map(([name, value]) => ({ kind: 'variable', name, value }));
    }
  }
}

function createAction(place: FilePlace, format: FileAction['format'], text: string): FileAction {
  return { kind: 'file', format, ...describePaths(place), text };
}

function describePaths(place: FilePlace): FilePaths {
  const { path, preferred, macos } = place;
  return {
    path: preferred === undefined ? path : `${preferred}|${path}`,
    ...(macos !== undefined && { macos }),
    windows: formatPath('windows', place),
  };
}
