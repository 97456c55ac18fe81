import type { Registry } from '#core/extension/registry.ts';
import type { Variants } from '#core/extension/variants.ts';
import { createCanaries, describeNotice } from './page.ts';
import { writeOperatorReason } from './record/canary-reason.ts';
import { CanaryRun } from './run/canary-run.ts';
import { describeCanary, describeEnd } from './run/describe.ts';

const maxListed = 5;

export const createCanaryVariants = (registry: Registry): Variants => ({
  follow: (hooks) => new CanaryRun(hooks),
  async describe(host) {
    const canaries = await createCanaries(registry, host).list(maxListed);
    return canaries.map((canary) => (canary.end === undefined ? describeCanary(canary) : describeEnd(canary)));
  },
  async read(host) {
    const [canary] = await createCanaries(registry, host).list(1);
    if (canary === undefined) return null;
    const { id: number, share, operator, note = null, startedAt, until } = canary;
    const { verdict = null, counts = null, end = null } = canary;
    return { number, share, operator, note, startedAt, until, verdict, counts, end };
  },
  notice: (request) => describeNotice(registry, request),
  async end(host, operator, note) {
    const canaries = createCanaries(registry, host);
    const running = await canaries.findRunning();
    return (
      running !== undefined && (await canaries.end(running.id, 'ended', writeOperatorReason('ended', operator, note)))
    );
  },
  reload: async (...parameters) => (await import('./reload.ts')).reload(registry, ...parameters),
});
