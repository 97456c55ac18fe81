import { pathOn } from '../reader.ts';
import { writeSettings } from '../writers/settings.ts';
import { posix } from '../writers/shell.ts';
import type { FilePlace, ScriptedStep, ScriptedTool } from '../tool.ts';
import type { SetupValues } from '../values.ts';
import type { FileAction, ScriptAction } from './actions.ts';

/** The actions of the script for a tool with these values, in order. */
export function describeActions(tool: ScriptedTool, values: SetupValues): ScriptAction[] {
  const { places = [], note } = tool.script;
  return [
    ...places.map((place) => ({ kind: 'place' as const, ...place })),
    ...stepsOf(tool, values).flatMap((step) => actionsOf(step, values)),
    ...(note === undefined ? [] : [{ kind: 'note' as const, text: note(values) }]),
  ];
}

/** The command that starts the tool: the last one that belongs into a terminal. */
export function startOf(tool: ScriptedTool, values: SetupValues): string | undefined {
  const commands = stepsOf(tool, values).filter((step) => step.kind === 'command' && step.place === undefined);
  const last = commands.at(-1);
  return last?.kind === 'command' ? last.commands.map((words) => posix.command(words)).join('; ') : undefined;
}

/** @throws Error for a step that needs a person: a tool with such steps has other ones for the script */
function stepsOf({ id, steps, script }: ScriptedTool, values: SetupValues): readonly ScriptedStep[] {
  if (script.steps !== undefined) return script.steps(values);
  return steps(values).map((step) => {
    if (step.kind === 'form' || step.kind === 'sample') throw new Error(`tool "${id}" has a step for people`);
    return step;
  });
}

function actionsOf(step: ScriptedStep, { key }: SetupValues): ScriptAction[] {
  switch (step.kind) {
    case 'file': {
      const { place, format, settings, identity, initial, at } = step;
      const text = writeSettings(format, settings);
      return [
        {
          ...fileAt(place, format, text),
          ...(identity && { identity }),
          ...(initial && { initial }),
          ...(at && { at }),
        },
      ];
    }
    case 'lines':
      return [fileAt(step.place, step.format, step.lines.join('\n'))];
    case 'command':
      if (step.place === undefined) return [];
      return [fileAt(step.place, 'block', step.commands.map((words) => posix.command(words)).join('\n'))];
    case 'environment': {
      const values = Object.entries(step.variables ?? {});
      if (step.key !== undefined) values.push([step.key, key]);
      return values.map(([name, value]) => ({ kind: 'variable', name, value }));
    }
  }
}

function fileAt(place: FilePlace, format: FileAction['format'], text: string): FileAction {
  const { path, preferred, macos } = place;
  return {
    kind: 'file',
    format,
    path: preferred === undefined ? path : `${preferred}|${path}`,
    ...(macos !== undefined && { macos }),
    windows: pathOn('windows', place),
    text,
  };
}
