import { service } from '#core/config/sections/core-sections.ts';
import { healthReason } from '#core/gateway/health/health-reason.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { describeFailure } from '#core/platform/errors/connection-error.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { formatterFor } from '../texts/formatter.ts';
import type { Language, Texts } from '../texts/texts.ts';
import { Translator } from '../texts/translator.ts';
import { type Problem, type ProblemKind, type ProblemKinds, type ProblemReader, severities } from './problem.ts';

/** Per kind; longer than the ping of a dependency, which is one of them. */
const deadlineMs = 2_500;
const maxAgeMs = 10_000; // monitoring programs share a reading

/** Replaces each kind that cannot be read: an empty page would suggest that all is well. */
const unread: ProblemKind = { name: 'unread', order: 20, find: () => [] };

interface FoundProblem extends Problem {
  readonly kind: ProblemKind;
}

interface FoundProblems {
  readonly found: readonly FoundProblem[];
  readonly total: number;
}

/** All problems, worst first; within a severity, in the order of their kinds. Never rejects, and takes about three seconds at most. */
export async function findProblems({ problems }: ProblemKinds, reader: ProblemReader): Promise<FoundProblems> {
  const kinds = [...problems.values()].toSorted((first, second) => first.order - second.order);
  const possible = readPossible(kinds, reader.host);
  const byKind = await Promise.all(kinds.map((kind) => findOfKind(kind, reader, possible)));
  const found = byKind.flatMap((result) => result.found);
  const shown = found.some(isDatabase) ? joinUnread(found, reader) : found;
  return {
    found: shown.toSorted((first, second) => rank(first) - rank(second)),
    total: byKind.reduce((sum, { total }) => sum + total, shown.length - found.length),
  };
}

function isDatabase({ kind, subject }: FoundProblem): boolean {
  return kind.name === 'check' && subject === 'database';
}

/** Merges unread kinds into one entry, because they fail together with the database. */
function joinUnread(found: readonly FoundProblem[], { t }: ProblemReader): readonly FoundProblem[] {
  const [unreadProblems, others] = [
    found.filter(({ kind }) => kind === unread),
    found.filter(({ kind }) => kind !== unread),
  ];
  if (unreadProblems.length === 0) return others;
  const kinds = unreadProblems.map(({ subject = '' }) => inWords(subject)).join(', ');
  const joined: FoundProblem = {
    kind: unread,
    severity: 'bad',
    title: t('problem.unread'),
    pieces: [{ text: t('problem.unread.database', { kinds }) }],
    step: { path: '/operator/health' },
    runbook: 'database-down',
  };
  return [...others, joined];
}

function rank({ severity }: Problem): number {
  return severities.indexOf(severity);
}

/** Resolves whether the precondition of a kind holds; all are queried together. If they cannot be read, every kind is searched. */
type IsPossible = (kind: ProblemKind) => Promise<boolean>;

function readPossible(kinds: readonly ProblemKind[], { database }: Pick<Host, 'database'>): IsPossible {
  const conditional = kinds.flatMap(({ name, precondition }) =>
    precondition === undefined ? [] : [{ name, precondition }],
  );
  const conditions = conditional.map(({ precondition }, index) => `(${precondition}) AS "${index}"`).join(', ');
  const reading =
    conditional.length === 0
      ? undefined
      : database.query<Record<string, boolean>>(`SELECT ${conditions}`).then(
          ([holds]) => new Set(conditional.flatMap(({ name }, index) => (holds?.[index] === false ? [name] : []))),
          () => undefined,
        );
  return async ({ name }) => (await reading)?.has(name) !== true;
}

async function findOfKind(kind: ProblemKind, reader: ProblemReader, isPossible: IsPossible): Promise<FoundProblems> {
  try {
    const finding = (async () => ((await isPossible(kind)) ? kind.find(reader) : []))();
    const problems = await withDeadline(finding, deadlineMs, 'no response in time');
    return { found: problems.map((problem) => ({ ...problem, kind })), total: problems.total ?? problems.length };
  } catch (error) {
    return { found: [describeUnread(kind, error, reader)], total: 1 };
  }
}

function describeUnread({ name }: ProblemKind, error: unknown, { t }: ProblemReader): FoundProblem {
  const reason = describeFailure(error instanceof Error ? error.message : String(error));
  const text = `: ${t(healthReason('health.reason.check_failed', { error: reason }))}`;
  return {
    kind: unread,
    severity: 'bad',
    title: t('problem.unread'),
    pieces: [{ text: inWords(name), isStrong: true }, { text }],
    subject: name,
    step: { path: '/operator/health' },
  };
}

function inWords(name: string): string {
  return name.replaceAll('_', ' ');
}

/** A reader of this language, with the texts of all plugins and the service's time zone. */
export function problemReader(pageTexts: readonly Texts[], host: Host, language: Language): ProblemReader {
  const translator = host.keep('problems/translator', () => new Translator(pageTexts));
  const format = formatterFor(language, host.section(service).time_zone);
  return { host, language, t: translator.in(language), format };
}

/** A problem for programs, without personal data. */
export type ToldProblem = {
  readonly problem: string;
  readonly severity: Problem['severity'];
  readonly title: string;
  readonly text: string;
  readonly subject: string | null;
  /** RFC 3339. */
  readonly since: string | null;
  /** Path of the page where it can be fixed. */
  readonly page: string;
  /** Path of the runbook in the repository. */
  readonly runbook: string | null;
};

export function tellProblem(found: FoundProblem): ToldProblem {
  const { kind, severity, title, subject, since, step, runbook = kind.runbook } = found;
  return {
    problem: kind.name,
    severity,
    title,
    text: textOf(found),
    subject: subject ?? null,
    since: since?.toISOString() ?? null,
    page: step.path,
    runbook: runbook === undefined ? null : `docs/runbooks/${runbook}.md`,
  };
}

/** The problem in a sentence without personal data. */
export function textOf({ pieces }: Problem): string {
  return pieces.flatMap(({ isPersonal, text }) => (isPersonal === true ? [] : [text])).join('');
}

/** Cached for programs: otherwise each scrape and each probe would query the database. */
const readings = new WeakMap<Host, FreshValue<readonly ToldProblem[]>>();

/** All problems in English, at most ten seconds old. Never rejects. */
export function tellProblems(
  gateway: ProblemKinds & { readonly pageTexts: readonly Texts[] },
  host: Host,
): Promise<readonly ToldProblem[]> {
  const read = async () => {
    const { found } = await findProblems(gateway, problemReader(gateway.pageTexts, host, 'en'));
    return found.map(tellProblem);
  };
  // Each kind has its own deadline.
  const options = { maxAge: maxAgeMs, deadline: Infinity, now: () => host.monotonic(), read };
  const reading = readings.get(host) ?? new FreshValue(options);
  readings.set(host, reading);
  return reading.get();
}
