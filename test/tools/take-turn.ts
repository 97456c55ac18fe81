import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { tools } from '../../plugins/setup/tools.ts';
import type { TextFormat } from '../support/formats.ts';
import type { Ended } from '../support/run-process.ts';
import { modelOver, type Period, routeOver, smallModel, type ToolsFixture } from './fixture.ts';
import type { InstalledCli } from './install.ts';
import type { Turn } from './scripted-model.ts';
import type { UserHome } from './user-home.ts';

/** The outcome of one task of a CLI over one upstream format. */
export interface Outcome {
  readonly cli: InstalledCli;
  readonly format: TextFormat;
  readonly seconds: number;
  /** Why it failed; undefined when it did all of it. */
  readonly fault?: string;
  /** Standard output and errors of the CLI. */
  readonly output: string;
}

const timeout = 180_000; // ms

/** Gives a CLI that was set up one task, and looks at its file, its output and the gateway's records. */
export async function takeTurn(
  fixture: ToolsFixture,
  home: UserHome,
  cli: InstalledCli,
  format: TextFormat,
): Promise<Outcome> {
  const cwd = await home.workFolder();
  const turn = fixture.model.begin();
  const asked = fixture.model.requests.length;
  const since = Date.now();
  const values = { providerId: fixture.slug, model: { name: modelOver(format) } };
  const words = [cli.command, ...cli.parameters(turn.prompt, values)];
  const ended = await home.terminal(words, { cwd, environment: cli.offline ?? {}, timeout });
  const period = { since, until: Date.now() + 1 };
  const folder = cli.workspace === undefined ? cwd : join(home.folder, cli.workspace);
  const written = await readFile(join(folder, turn.file), 'utf8').catch(() => '');
  const fault =
    faultOfRun(ended, turn, written) ??
    (await faultOfRecords(fixture, cli, format, period, fixture.model.requests.length - asked));
  const output = `$ ${words.join(' ')}\n${ended.out}\n${ended.errors}\nended: ${ended.code}\n`;
  return { cli, format, seconds: ended.seconds, ...(fault !== undefined && { fault }), output };
}

function faultOfRun(ended: Ended, turn: Turn, written: string): string | undefined {
  if (turn.faults.length > 0) return turn.faults.join('; ');
  if (ended.isTimeout) return `no end within ${timeout / 1_000} s`;
  if (turn.called.length === 0) return `the model was not asked for the task; ${lastWords(ended)}`;
  if (written.trim() !== turn.token) return `${turn.called[0]} did not write the file`;
  if (!ended.out.includes(turn.text)) return `the model's last words are not in its output; ${lastWords(ended)}`;
  if (turn.called.length > 1) return `the result of ${turn.called[0]} came without what the command printed`;
  return ended.code === 0 ? undefined : `it ended with ${ended.code}; ${lastWords(ended)}`;
}

function lastWords({ code, out, errors }: Ended): string {
  const line = `${out}\n${errors}`.trim().split('\n').at(-1) ?? '';
  return `it ended with ${code}: ${line.trim().slice(0, 200)}`;
}

async function faultOfRecords(
  fixture: ToolsFixture,
  { id }: InstalledCli,
  format: TextFormat,
  period: Period,
  count: number,
): Promise<string | undefined> {
  const records = await fixture.recordsOf(period, count);
  const failed = records.find(({ status, outcome }) => status !== 200 || outcome !== 'answered');
  if (failed !== undefined) return `a request ended with ${failed.status}: ${failed.error_message ?? failed.outcome}`;
  const spoken = tools.find((tool) => tool.id === id)?.formats[0];
  const main = { format: spoken, model: modelOver(format), route: routeOver(format), is_stream: true };
  const ofTask = records.filter((record) => isLike(record, main));
  if (ofTask.length < 2) return `${ofTask.length} records are ${describe(main)}: ${records.map(describe).join('; ')}`;
  const small = { model: smallModel.name, route: smallModel.route };
  const other = records.find((record) => record.model !== main.model && !isLike(record, small));
  return other === undefined ? undefined : `a record is ${describe(other)}`;
}

function isLike(record: RequestRecord, members: Partial<Record<keyof RequestRecord, unknown>>): boolean {
  return Object.entries(members).every(([name, value]) => record[name as keyof RequestRecord] === value);
}

function describe({ format, model, route }: Partial<Record<'format' | 'model' | 'route', unknown>>): string {
  return `${String(format)} ${String(model)} ${String(route)}`;
}
