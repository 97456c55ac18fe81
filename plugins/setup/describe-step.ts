import { type CodePiece, codePieces } from '#core/pages/code-pieces.ts';
import type { PageRequest } from '#core/pages/page.ts';
import type { FilePlace, Step } from './tool.ts';
import type { SetupValues } from './values.ts';
import { writeSettings } from './writers/settings.ts';
import { posix, powershell, type Shell } from './writers/shell.ts';

/** Systems whose files and shells differ. */
export const systems = ['linux', 'macos', 'windows'] as const;
export type System = (typeof systems)[number];

/** A box of code, as the part `code` prints it. */
export interface CodeBox {
  readonly id: string;
  readonly label: string;
  readonly pieces: readonly CodePiece[];
}

/** One step, ready to be printed. */
export interface ShownStep {
  readonly title: string;
  /** Where a form is; '' for other steps. */
  readonly where: string;
  readonly boxes: readonly CodeBox[];
  readonly fields: readonly ShownField[];
  readonly notes: readonly string[];
}

/** What is typed into a field. The key is not here to be copied. */
export interface ShownField {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly isKey: boolean;
}

interface Reader {
  readonly t: PageRequest['t'];
  readonly system: System;
  readonly values: SetupValues;
}

/** @param number counts from 1; makes the ids on the page */
export function describeStep(step: Step, number: number, reader: Reader): ShownStep {
  const { t, values } = reader;
  const note = step.note === undefined ? [] : [t(step.note, { provider: values.providerId })];
  const shown = bodyOf(step, number, reader);
  return { where: '', boxes: [], fields: [], ...shown, notes: [...(shown.notes ?? []), ...note] };
}

function bodyOf(step: Step, number: number, { t, system, values }: Reader): Partial<ShownStep> & { title: string } {
  const shell = shellOf(system);
  const box = (label: string, code: string, part = ''): CodeBox => ({
    id: `step-${number}${part}`,
    label,
    pieces: codePieces(code),
  });
  switch (step.kind) {
    case 'file': {
      const code = writeSettings(step.format, step.settings);
      const hasKey = code.includes(values.key);
      return {
        title: t(step.isOwn === true ? 'setup.step.own_file' : 'setup.step.file'),
        boxes: [box(placeOn(system, step.place), code)],
        notes: [
          ...elsewhere(step.place, system, t),
          ...(step.isOwn === true ? [] : [t('setup.step.file_merge')]),
          ...(hasKey ? [t('setup.step.file_key', { placeholder: values.key })] : []),
        ],
      };
    }
    case 'environment': {
      const question = t('setup.step.question', { service: values.providerName });
      return {
        title: t(Object.keys(step.variables).length === 0 ? 'setup.step.key' : 'setup.step.environment'),
        boxes: [box(terminalOf(system), shell.environment(step, question))],
        notes: [t('setup.step.environment_more')],
      };
    }
    case 'command': {
      const code = step.commands.map((words) => shell.command(words)).join('\n');
      if (step.place === undefined) return { title: t('setup.step.run'), boxes: [box(terminalOf(system), code)] };
      // The file has the syntax of a POSIX shell on every system.
      const lines = step.commands.map((words) => posix.command(words)).join('\n');
      return {
        title: t('setup.step.file'),
        boxes: [box(placeOn(system, step.place), lines)],
        notes: elsewhere(step.place, system, t),
      };
    }
    case 'form':
      return {
        title: t('setup.step.form'),
        where: step.where,
        fields: step.fields.map(({ label, value }, index) => ({
          id: `step-${number}-${index}`,
          label,
          value: value === values.key ? t('setup.key') : value,
          isKey: value === values.key,
        })),
      };
    case 'sample':
      return {
        title: t('setup.step.sample'),
        boxes: step.samples.map(({ title, install, code }, index) =>
          box(title, install === '' ? code : `${comment(title)} ${install}\n${code}`, `-${index}`),
        ),
      };
  }
}

function shellOf(system: System): Shell {
  return system === 'windows' ? powershell : posix;
}

function terminalOf(system: System): string {
  return system === 'windows' ? powershell.name : 'Terminal';
}

function placeOn(system: System, { path, macos, windows }: FilePlace): string {
  return (system === 'windows' ? windows : system === 'macos' ? macos : undefined) ?? path;
}

/** The path on Windows is not known of every tool. */
function elsewhere({ windows }: FilePlace, system: System, t: PageRequest['t']): string[] {
  return system === 'windows' && windows === undefined ? [t('setup.step.path_elsewhere')] : [];
}

function comment(language: string): string {
  return language === 'Python' ? '#' : '//';
}
