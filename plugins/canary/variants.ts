import { canaryReasonBy } from './record/canary-reason.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Variants } from '#core/extension/variants.ts';
import { CanaryRun } from './run/canary-run.ts';
import { describeCanary, describeEnd } from './run/describe.ts';
import { canariesOf, noticeOf } from './page.ts';

/** Maximum number of canaries that `daypass history` lists below the configurations. */
const listed = 5;

/** Canaries as core's variants. */
export const canaryVariants = (registry: Registry): Variants => ({
  follow: (hooks) => new CanaryRun(hooks),
  async describe(host) {
    const canaries = await canariesOf(registry, host).list(listed);
    return canaries.map((canary) => (canary.end === undefined ? describeCanary(canary) : describeEnd(canary)));
  },
  async read(host) {
    const [canary] = await canariesOf(registry, host).list(1);
    if (canary === undefined) return null;
    const { id: number, share, operator, note = null, startedAt, until } = canary;
    const { verdict = null, counts = null, end = null } = canary;
    return { number, share, operator, note, startedAt, until, verdict, counts, end };
  },
  notice: (request) => noticeOf(registry, request),
  async end(host, operator, note) {
    const canaries = canariesOf(registry, host);
    const running = await canaries.running();
    return running !== undefined && (await canaries.end(running.id, 'ended', canaryReasonBy('ended', operator, note)));
  },
  reload: async (...asked) => (await import('./reload.ts')).reload(registry, ...asked),
});
