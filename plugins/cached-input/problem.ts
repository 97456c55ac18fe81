import { type Problem, type ProblemKind, type ProblemReader, readEmphasis } from '#core/web/problems/problem.ts';
import { type FallenShare, fallenSharesReading } from './fallen-shares.ts';

declare module '#core/gateway/events/events.ts' {
  interface EventTypes {
    /** Vendors read much less of the prompts from their caches than in the week before. Sent at most once a day. */
    'cached_input.fell': { readonly day: string; readonly since: string };
  }
}

const maxListed = 5;

/** Vendors cache much less of the prompts than in the week before, so the same usage costs several times as much. */
export const fallenCacheProblem: ProblemKind = {
  name: 'cached_input',
  order: 75,
  maxListed,
  runbook: 'cached-input-fell',
  async find(reader) {
    return (await fallenSharesReading(reader.host).get()).map((share) => describeFallenShare(share, reader));
  },
  alert: {
    event: 'cached_input.fell',
    isWatched: true,
    async compose(_payload, { host, t, format }) {
      const fallen = await fallenSharesReading(host).get();
      const [first] = fallen;
      if (first === undefined) return 'the shares of cached input have recovered';
      return {
        title: t('alert.cached_input.title', { name: first.name }),
        text: t('alert.cached_input.text'),
        facts: fallen
          .slice(0, maxListed)
          .map(({ name, before, now }) => [
            name,
            t('cached_input.from_to', { before: format.percent(before), now: format.percent(now) }),
          ]),
        path: '/operator/routes',
        data: {
          fallen: fallen.slice(0, maxListed).map(({ of, name, before, now, lostTokens }) => ({
            by: of,
            name,
            share_before: before,
            share: now,
            lost_tokens: lostTokens,
          })),
        },
      };
    },
  },
};

function describeFallenShare({ of, name, before, now }: FallenShare, { t, format }: ProblemReader): Problem {
  const shares = { before: format.percent(before), now: format.percent(now) };
  return {
    severity: 'warn',
    title: t('cached_input.problem'),
    subject: name,
    // The name is a piece of its own, because an asterisk in it would end the emphasis.
    pieces: [{ text: name, isStrong: true }, ...readEmphasis(`: ${t(`cached_input.problem.${of}`, shares)}`)],
    step: { path: '/operator/routes', label: t('cached_input.problem.label', { name }) },
  };
}
