import type { PageRequest } from '#core/web/pages/page.ts';
import { type CodeBox, describeStep, type ShownStep } from './describe-step.ts';
import { describeCommandBox } from './one-command.ts';
import type { Reader } from './reader.ts';
import { fillTemplate } from './template.ts';
import type { SetupTool } from './tool.ts';
import { createNoteKey } from './tools.ts';
import type { SetupValues } from './values.ts';

export interface ShownTool {
  readonly id: string;
  readonly name: string;
  readonly speaks: string;
  readonly evidence: string;
  readonly note: string;
  readonly command: CodeBox | undefined; // performs the steps; undefined for tools that the script cannot set up
  readonly steps: readonly ShownStep[];
}

export function describeTool(tool: SetupTool, values: SetupValues, reader: Reader): ShownTool {
  const { t, system } = reader;
  return {
    id: tool.id,
    name: formatToolName(tool, t),
    speaks: tool.formats.map((format) => t(`setup.format.${format}`)).join(' · '),
    evidence: describeEvidence(tool, t),
    note: tool.note === undefined ? '' : t(createNoteKey(tool), { provider: values.providerId }),
    command: tool.script === undefined ? undefined : describeCommandBox({ tools: tool.id }, reader),
    steps: fillTemplate(tool.steps, values).map((step, index) =>
      describeStep(step, { t, system, values, number: index + 1 }),
    ),
  };
}

export function formatToolName({ name, nameText }: SetupTool, t: PageRequest['t']): string {
  return nameText === undefined ? name : t(nameText);
}

function describeEvidence({ seen }: SetupTool, t: PageRequest['t']): string {
  if (seen === undefined) return t('setup.documented');
  return seen === '' ? t('setup.seen_any') : t('setup.seen', { version: seen });
}
