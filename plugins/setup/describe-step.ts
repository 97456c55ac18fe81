import { type CodePiece, codePieces } from '#core/web/pages/code-pieces.ts';
import { createSdkSamples } from '#core/web/pages/code-samples.ts';
import { formatPath, type Reader, type System, getTerminalName } from './reader.ts';
import type { CodeSample, CommandStep, EnvironmentStep, FileStep, FormStep, SampleStep, Step } from './tool.ts';
import type { SetupValues } from './values.ts';
import { posix, powershell, renderSettings, type Shell } from './writers.ts';

export interface CodeBox {
  readonly id: string;
  readonly label: string;
  readonly pieces: readonly CodePiece[];
}

export interface ShownStep {
  readonly title: string;
  readonly where: string; // where to find the form; '' for other steps
  readonly boxes: readonly CodeBox[];
  readonly fields: readonly ShownField[];
  readonly notes: readonly string[];
}

interface ShownField {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly isKey: boolean; // shown as a link instead, because the page does not know the key
}

interface StepContext {
  readonly t: Reader['t'];
  readonly system: System;
  readonly values: SetupValues;
  readonly number: number; // from 1; used in the ids on the page
}

type StepBody = Pick<ShownStep, 'title'> & Partial<ShownStep>;

export function describeStep(step: Step, context: StepContext): ShownStep {
  const { t, values } = context;
  const note = step.note === undefined ? [] : [t(step.note, { provider: values.providerId })];
  const body = describeBody(step, context);
  return { where: '', boxes: [], fields: [], ...body, notes: [...(body.notes ?? []), ...note] };
}

function describeBody(step: Step, context: StepContext): StepBody {
  switch (step.kind) {
    case 'file':
      return describeFile(step, context);
    case 'environment':
      return describeEnvironment(step, context);
    case 'command':
      return describeCommands(step, context);
    case 'form':
      return describeForm(step, context);
    case 'sample':
      return describeSamples(step, context);
  }
}

function describeFile({ place, format, settings, isDedicated }: FileStep, context: StepContext): StepBody {
  const { t, system, values } = context;
  const code = renderSettings(format, settings);
  return {
    title: t(isDedicated === true ? 'setup.step.own_file' : 'setup.step.file'),
    boxes: [describeBox(context, formatPath(system, place), code)],
    notes: [
      ...(isDedicated === true ? [] : [t('setup.step.file_merge')]),
      ...(code.includes(values.key) ? [t('setup.step.file_key', { placeholder: values.key })] : []),
    ],
  };
}

function describeEnvironment(step: EnvironmentStep, context: StepContext): StepBody {
  const { t, system, values } = context;
  const question = t('setup.step.question', { service: values.providerName });
  return {
    title: t(step.variables === undefined ? 'setup.step.key' : 'setup.step.environment'),
    boxes: [describeBox(context, getTerminalName(system), selectShell(system).renderEnvironment(step, question))],
    notes: [t('setup.step.environment_more')],
  };
}

function describeCommands({ commands, place }: CommandStep, context: StepContext): StepBody {
  const { t, system } = context;
  // A file of commands has the syntax of a POSIX shell on every system.
  const shell = place === undefined ? selectShell(system) : posix;
  const code = commands.map((words) => shell.renderCommand(words)).join('\n');
  return {
    title: t(place === undefined ? 'setup.step.run' : 'setup.step.file'),
    boxes: [describeBox(context, place === undefined ? getTerminalName(system) : formatPath(system, place), code)],
  };
}

function describeForm({ where, fields }: FormStep, { t, values, number }: StepContext): StepBody {
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

function describeSamples(step: SampleStep, context: StepContext): StepBody {
  const { baseUrl, keyVariable, model } = context.values;
  const samples: readonly CodeSample[] =
    step.samples ?? createSdkSamples(step.sdk, { baseUrl, keyVariable, model: model.name });
  return {
    title: context.t('setup.step.sample'),
    boxes: samples.map(({ title, install, code }, index) => {
      const text = install === undefined ? code : `${commentSign(title)} ${install}\n${code}`;
      return describeBox(context, title, text, `-${index}`);
    }),
  };
}

function describeBox({ number }: StepContext, label: string, code: string, part = ''): CodeBox {
  return { id: `step-${number}${part}`, label, pieces: codePieces(code) };
}

function selectShell(system: System): Shell {
  return system === 'windows' ? powershell : posix;
}

function commentSign(language: string): string {
  return language === 'Python' ? '#' : '//';
}
