import { findDependents } from '#core/config/catalog/dependents.ts';
import { type ProblemKind, type ProblemReader, readEmphasis } from '#core/web/problems/problem.ts';
import { type ClosedKey, listClosedKeys } from './closed-keys.ts';
import { closedKeysPath } from './resource.ts';

export const closedKeyProblems: ProblemKind = {
  name: 'closed_key',
  order: 15,
  maxListed: 10,
  runbook: 'key-closed',
  precondition: 'EXISTS (SELECT FROM closed_key)',
  async find(reader) {
    const keys = await listClosedKeys(reader.host);
    return keys.map((key) => ({
      severity: 'bad' as const,
      title: reader.t('closed-keys.problem'),
      subject: key.upstream,
      pieces: [...readEmphasis(describeKey(key, reader)), { text: ` ${describeEffect(key, keys, reader)}` }],
      since: new Date(key.closedAt),
      step: { path: closedKeysPath },
    }));
  },
  alert: {
    event: 'key.closed',
    async compose({ closedKeyId }, reader) {
      const { host, t } = reader;
      const keys = await listClosedKeys(host);
      const key = keys.find(({ id }) => id === closedKeyId);
      if (key === undefined) return 'the vendor accepts the key again, or gateway.yaml no longer has it';
      return {
        title: t('closed-keys.alert', { vendor: key.vendor, upstream: key.upstream }),
        text: t('closed-keys.advice'),
        facts: [
          [t('closed-keys.key'), formatPlaces(key, reader)],
          [t('closed-keys.words'), key.words],
          [t('closed-keys.effect'), describeEffect(key, keys, reader)],
        ],
        path: closedKeysPath,
        data: { upstream: key.upstream, vendor: key.vendor, part: key.part, words: key.words, source: key.source },
      };
    },
  },
};

function describeKey(key: ClosedKey, reader: ProblemReader): string {
  const { vendor, part } = key;
  return reader.t(`closed-keys.problem.${part}`, { vendor, key: formatPlaces(key, reader) });
}

function formatPlaces({ places }: ClosedKey, { t }: ProblemReader): string {
  return places.map((place) => t('closed-keys.place', place)).join(', ');
}

/** A model stops if none of its upstreams has an open key. */
function describeEffect(key: ClosedKey, closedKeys: readonly ClosedKey[], { host, t }: ProblemReader): string {
  const countClosed = (name: string) =>
    new Set(
      closedKeys.flatMap(({ places }) => places.flatMap((place) => (place.upstream === name ? [place.position] : []))),
    ).size;
  const deadUpstreams = key.places
    .filter(({ upstream, of }) => countClosed(upstream) >= of)
    .map(({ upstream }) => upstream);
  if (deadUpstreams.length === 0) return t('closed-keys.effect.others');
  const { lostModels: lost, backedModels: backed } = findDependents(host.catalog, new Set(deadUpstreams));
  if (lost.length === 0) return t('closed-keys.effect.backed', { count: backed.length });
  return t('closed-keys.effect.lost', {
    count: lost.length,
    models: lost
      .slice(0, 3)
      .map(({ publicName }) => publicName)
      .join(', '),
  });
}
