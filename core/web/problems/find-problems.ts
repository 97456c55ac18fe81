import { service } from '#core/config/sections/core-sections.ts';
import { healthReason } from '#core/gateway/health/health-reason.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { describeFailure } from '#core/platform/errors/connection-error.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { getFormatter } from '../texts/formatter.ts';
import type { Language, Texts } from '../texts/texts.ts';
import { Translator } from '../texts/translator.ts';
import { type Problem, type ProblemKind, type ProblemKinds, type ProblemReader, severities } from './problem.ts';

const findTimeoutMs = 2_500; // per kind; longer than the ping of a dependency, because the kind `check` waits for those pings
const maxAgeMs = 10_000; // all scrapes share the result

const unreadable: ProblemKind = { name: 'unread', order: 20, find: () => [] }; // an empty page would suggest that all is well

interface FoundProblem extends Problem {
  readonly kind: ProblemKind;
}

interface FoundProblems {
  readonly problems: readonly FoundProblem[];
  readonly total: number;
}

/** Finds all problems, worst first, then in the order of their kinds. Never rejects, and takes no longer than one kind may. */
export async function findProblems({ problems }: ProblemKinds, reader: ProblemReader): Promise<FoundProblems> {
  const kinds = [...problems.values()].toSorted((first, second) => first.order - second.order);
  const isPossible = checkPreconditions(kinds, reader.host);
  const byKind = await Promise.all(kinds.map((kind) => findOfKind(kind, reader, isPossible)));
  const results = {
    problems: byKind.flatMap(({ problems: found }) => found),
    total: byKind.reduce((sum, { total }) => sum + total, 0),
  };
  const { problems: found, total } = results.problems.some(isDatabaseDown) ? mergeUnreadable(results, reader) : results;
  return { problems: found.toSorted((first, second) => rankSeverity(first) - rankSeverity(second)), total };
}

function isDatabaseDown({ kind, subject }: FoundProblem): boolean {
  return kind.name === 'check' && subject === 'database';
}

/** Unreadable kinds fail together, with the database, so they become one entry. */
function mergeUnreadable({ problems: found, total }: FoundProblems, { t }: ProblemReader): FoundProblems {
  const readable = found.filter(({ kind }) => kind !== unreadable);
  const unreadableProblems = found.filter(({ kind }) => kind === unreadable);
  if (unreadableProblems.length === 0) return { problems: found, total };
  const kinds = unreadableProblems.map(({ subject = '' }) => humanize(subject)).join(', ');
  const entry: FoundProblem = {
    kind: unreadable,
    severity: 'bad',
    title: t('problem.unread'),
    pieces: [{ text: t('problem.unread.database', { kinds }) }],
    step: { path: '/operator/health' },
    runbook: 'database-down',
  };
  return { problems: [...readable, entry], total: total - unreadableProblems.length + 1 };
}

function rankSeverity({ severity }: Problem): number {
  return severities.indexOf(severity);
}

/** Resolves to true if the kind has no precondition, or if its precondition holds or cannot be read. */
type IsPossible = (kind: ProblemKind) => Promise<boolean>;

function checkPreconditions(kinds: readonly ProblemKind[], { database }: Pick<Host, 'database'>): IsPossible {
  const conditional = kinds.flatMap(({ name, precondition }) =>
    precondition === undefined ? [] : [{ name, precondition }],
  );
  const conditions = conditional.map(({ precondition }, index) => `(${precondition}) AS "${index}"`).join(', ');
  const impossibleNames =
    conditional.length === 0
      ? undefined
      : database.query<Record<string, boolean>>(`SELECT ${conditions}`).then(
          ([row]) => new Set(conditional.flatMap(({ name }, index) => (row?.[index] === false ? [name] : []))),
          () => undefined,
        );
  return async ({ name }) => (await impossibleNames)?.has(name) !== true;
}

async function findOfKind(kind: ProblemKind, reader: ProblemReader, isPossible: IsPossible): Promise<FoundProblems> {
  try {
    const finding = (async () => ((await isPossible(kind)) ? kind.find(reader) : []))();
    const problems = await withDeadline(finding, findTimeoutMs, 'no response in time');
    const listed = problems.slice(0, kind.maxListed).map((problem) => ({ ...problem, kind }));
    return { problems: listed, total: problems.total ?? problems.length };
  } catch (error) {
    return { problems: [createUnreadable(kind, error, reader)], total: 1 };
  }
}

function createUnreadable({ name }: ProblemKind, error: unknown, { t }: ProblemReader): FoundProblem {
  const reason = describeFailure(error instanceof Error ? error.message : String(error));
  const text = `: ${t(healthReason('health.reason.check_failed', { error: reason }))}`;
  return {
    kind: unreadable,
    severity: 'bad',
    title: t('problem.unread'),
    pieces: [{ text: humanize(name), isStrong: true }, { text }],
    subject: name,
    step: { path: '/operator/health' },
  };
}

function humanize(name: string): string {
  return name.replaceAll('_', ' ');
}

export function createProblemReader(pageTexts: readonly Texts[], host: Host, language: Language): ProblemReader {
  const translator = host.keep('problems/translator', () => new Translator(pageTexts));
  const format = getFormatter(language, host.section(service).time_zone);
  return { host, language, t: translator.in(language), format };
}

/** A problem for programs, without personal data. */
export type ProblemView = {
  readonly problem: string;
  readonly severity: Problem['severity'];
  readonly title: string;
  readonly text: string;
  readonly subject: string | null;
  readonly since: string | null; // RFC 3339
  readonly page: string; // path of the page on which it can be fixed
  readonly runbook: string | null; // path in the repository
};

export function describeProblem(found: FoundProblem): ProblemView {
  const { kind, severity, title, subject, since, step, runbook = kind.runbook } = found;
  return {
    problem: kind.name,
    severity,
    title,
    text: renderPlainText(found),
    subject: subject ?? null,
    since: since?.toISOString() ?? null,
    page: step.path,
    runbook: runbook === undefined ? null : `docs/runbooks/${runbook}.md`,
  };
}

/** Renders the problem as plain text without personal data. */
export function renderPlainText({ pieces }: Problem): string {
  return pieces.flatMap(({ isPersonal, text }) => (isPersonal === true ? [] : [text])).join('');
}

const problemCache = new WeakMap<Host, FreshValue<readonly ProblemView[]>>(); // so that scrapes and probes do not each query the database

/** Describes all problems in English. They may be up to `maxAgeMs` old. Never rejects. */
export function describeProblems(
  gateway: ProblemKinds & { readonly pageTexts: readonly Texts[] },
  host: Host,
): Promise<readonly ProblemView[]> {
  const read = async () => {
    const { problems: found } = await findProblems(gateway, createProblemReader(gateway.pageTexts, host, 'en'));
    return found.map(describeProblem);
  };
  // No timeout here, because each kind has its own.
  const options = { maxAgeMs, timeoutMs: Infinity, now: () => host.monotonic(), read };
  const problems = problemCache.get(host) ?? new FreshValue(options);
  problemCache.set(host, problems);
  return problems.get();
}
