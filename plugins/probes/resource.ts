import { defineView, type FieldReader } from '#core/web/resources/field.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { defineResource } from '#core/web/resources/resource.ts';
import type { LastResult } from './results.ts';
import { listFailedChecks, type ProbedRoute } from './state.ts';

const maxDetailLength = 160;

const kinds = { ok: 'ok', drifted: 'bad', changed: 'warn', waiting: 'waiting' } as const;

function stateOf({ results, drifted, changed }: ProbedRoute): keyof typeof kinds {
  if (results.length === 0) return 'waiting';
  if (drifted.length > 0) return 'drifted';
  return changed === undefined ? 'ok' : 'changed';
}

export function statusOf(probed: ProbedRoute, { t }: Pick<FieldReader, 't'>) {
  const state = stateOf(probed);
  return { kind: kinds[state], text: t(`probes.state.${state}`) };
}

function findResult({ results }: ProbedRoute, name: LastResult['check']): LastResult | undefined {
  return results.find(({ check }) => check === name);
}

function formatSpeed(result: LastResult | undefined, { t, format }: FieldReader): string {
  const rate = result?.tokensPerSecond;
  return rate === undefined ? '' : t('probes.rate', { rate: format.number(Math.round(rate)) });
}

function lastTriedAt({ results }: ProbedRoute): Date | undefined {
  return results.length === 0 ? undefined : new Date(Math.max(...results.map(({ startedAt }) => +startedAt)));
}

export const probes = defineResource({
  name: 'probe',
  summary: 'list routes with the last results of their checks',
  perPage: Infinity,
  view: defineView<ProbedRoute>('probes')(
    {
      route: {
        type: 'link',
        label: 'operator.route',
        fit: 'id',
        at: 'title',
        value: ({ route }) => ({
          text: route,
          path: `/operator/probes/route?${new URLSearchParams({ route }).toString()}`,
        }),
      },
      state: {
        type: 'state',
        at: 'end',
        kinds,
        value: stateOf,
        print: (probed) => (probed.results.length === 0 ? 'not tried' : stateOf(probed)),
      },
      wrong: {
        type: 'text',
        label: 'probes.failed_checks',
        heading: '',
        fit: 'text',
        at: 'below',
        value: (probed) =>
          listFailedChecks(probed)
            .map(({ check, reason, detail }) => `${check}: ${reason}${detail === undefined ? '' : ` (${detail})`}`)
            .join('; '),
        cell: (probed, { t }) =>
          listFailedChecks(probed)
            .map(({ check }) => t(`probes.check.${check}`))
            .join(', '),
      },
      first_token: {
        type: 'duration',
        label: 'operator.first_token',
        at: 'hide',
        value: (probed) => findResult(probed, 'streams')?.firstContentMs,
      },
      speed: {
        type: 'count',
        at: 'note',
        cell: (probed, reader) => formatSpeed(findResult(probed, 'streams'), reader),
      },
      score: {
        type: 'count',
        at: 'hide',
        cell(probed, { format }) {
          const score = findResult(probed, 'fingerprint')?.score;
          return score === undefined ? '' : format.percent(score / 100, 0);
        },
      },
      last_tried: { type: 'time', label: 'probes.last', at: 'hide', value: lastTriedAt },
    },
    ['route', 'state', 'last_tried', 'wrong'],
  ),
  none: 'No route can be probed.',
  async list(host) {
    const { readProbedRoutes } = await import('./state.ts');
    return { entries: await readProbedRoutes(host) };
  },
  // Until 0.7, a plain list with the names used before 0.6.
  write: ({ entries }) => toOperatorJson(entries, true),
});

export const checks = defineView<LastResult>('probes')({
  check: { type: 'state', at: 'title', of: 'check' },
  state: {
    type: 'state',
    at: 'end',
    texts: 'probes.result',
    kinds: { ok: 'ok', failed: 'bad', unknown: 'waiting' },
    of: 'state',
  },
  found: { type: 'text', fit: 'text', at: 'below', cell: describeFound },
  tokens: { type: 'count', isNamed: true, at: 'note', of: 'tokens' },
  last: { type: 'time', at: 'note-end', of: 'startedAt' },
});

function describeFound(result: LastResult, reader: FieldReader): string {
  const { t, format } = reader;
  const { reason, detail, firstContentMs, score } = result;
  const measurements = [
    firstContentMs === undefined ? '' : t('probes.first_after', { time: format.duration(firstContentMs).text }),
    formatSpeed(result, reader),
    score === undefined ? '' : t('probes.resembles', { share: format.percent(score / 100, 0) }),
  ];
  const reasonText = reason === undefined ? '' : t(`probes.reason.${reason}`);
  return [reasonText, (detail ?? '').slice(0, maxDetailLength), ...measurements]
    .filter((part) => part !== '')
    .join(' · ');
}
