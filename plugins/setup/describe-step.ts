import { type CodePiece, codePieces } from '#core/web/pages/code-pieces.ts';
import { sdkSamples } from '#core/web/pages/code-samples.ts';
import { pathOn, type Reader, type System, terminalOn } from './reader.ts';
import type { CodeSample, CommandStep, EnvironmentStep, FileStep, FormStep, SampleStep, Step } from './tool.ts';
import type { SetupValues } from './values.ts';
import { writeSettings } from './writers.ts';
import { posix, powershell, type Shell } from './writers.ts';

/** A code box with a Copy button, for the template part `code`. */
export interface CodeBox {
  readonly id: string;
  readonly label: string;
  readonly pieces: readonly CodePiece[];
}

export interface ShownStep {
  readonly title: string;
  /** Where to find a form; '' for other steps. */
  readonly where: string;
  readonly boxes: readonly CodeBox[];
  readonly fields: readonly ShownField[];
  readonly notes: readonly string[];
}

/** A form field and its value. The page does not know the key, so the key's field has a link instead. */
interface ShownField {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly isKey: boolean;
}

interface StepContext {
  readonly t: Reader['t'];
  readonly system: System;
  readonly values: SetupValues;
  /** Counts from 1; used in the ids on the page. */
  readonly number: number;
}

type StepBody = Pick<ShownStep, 'title'> & Partial<ShownStep>;

/** Describes a step in the reader's language, with code for the reader's system. */
export function describeStep(step: Step, context: StepContext): ShownStep {
  const { t, values } = context;
  const note = step.note === undefined ? [] : [t(step.note, { provider: values.providerId })];
  const body = bodyOf(step, context);
  return { where: '', boxes: [], fields: [], ...body, notes: [...(body.notes ?? []), ...note] };
}

function bodyOf(step: Step, context: StepContext): StepBody {
  switch (step.kind) {
    case 'file':
      return fileBody(step, context);
    case 'environment':
      return environmentBody(step, context);
    case 'command':
      return commandBody(step, context);
    case 'form':
      return formBody(step, context);
    case 'sample':
      return sampleBody(step, context);
  }
}

function fileBody({ place, format, settings, isOwn }: FileStep, context: StepContext): StepBody {
  const { t, system, values } = context;
  const code = writeSettings(format, settings);
  return {
    title: t(isOwn === true ? 'setup.step.own_file' : 'setup.step.file'),
    boxes: [boxOf(context, pathOn(system, place), code)],
    notes: [
      ...(isOwn === true ? [] : [t('setup.step.file_merge')]),
      ...(code.includes(values.key) ? [t('setup.step.file_key', { placeholder: values.key })] : []),
    ],
  };
}

function environmentBody(step: EnvironmentStep, context: StepContext): StepBody {
  const { t, system, values } = context;
  const question = t('setup.step.question', { service: values.providerName });
  return {
    title: t(step.variables === undefined ? 'setup.step.key' : 'setup.step.environment'),
    boxes: [boxOf(context, terminalOn(system), shellOn(system).environment(step, question))],
    notes: [t('setup.step.environment_more')],
  };
}

/** Files of commands use the syntax of a POSIX shell on every system. */
function commandBody({ commands, place }: CommandStep, context: StepContext): StepBody {
  const { t, system } = context;
  const shell = place === undefined ? shellOn(system) : posix;
  const code = commands.map((words) => shell.command(words)).join('\n');
  return {
    title: t(place === undefined ? 'setup.step.run' : 'setup.step.file'),
    boxes: [boxOf(context, place === undefined ? terminalOn(system) : pathOn(system, place), code)],
  };
}

function formBody({ where, fields }: FormStep, { t, values, number }: StepContext): StepBody {
  return {
    title: t('setup.step.form'),
    where,
    fields: fields.map(({ label, value }, index) => ({
      id: `step-${number}-${index}`,
      label,
      value: value === values.key ? t('setup.key') : value,
      isKey: value === values.key,
    })),
  };
}

function sampleBody(step: SampleStep, context: StepContext): StepBody {
  const { baseUrl, keyVariable, model } = context.values;
  const samples: readonly CodeSample[] =
    step.samples ?? sdkSamples(step.sdk, { baseUrl, keyVariable, model: model.name });
  return {
    title: context.t('setup.step.sample'),
    boxes: samples.map(({ title, install, code }, index) =>
      boxOf(context, title, install === undefined ? code : `${commentIn(title)} ${install}\n${code}`, `-${index}`),
    ),
  };
}

function boxOf({ number }: StepContext, label: string, code: string, part = ''): CodeBox {
  return { id: `step-${number}${part}`, label, pieces: codePieces(code) };
}

function shellOn(system: System): Shell {
  return system === 'windows' ? powershell : posix;
}

function commentIn(language: string): string {
  return language === 'Python' ? '#' : '//';
}
