import { ActionRefused, defineAction, note, text } from '#core/business/operator-actions/action-kind.ts';
import { configurationSubject } from '#core/business/operator-actions/subjects.ts';
import { describeAsIs, describeInText } from '#core/business/operator-actions/member-describers.ts';
import { canaryReasonBy } from './record/canary-reason.ts';
import { RollbackRefused } from '#core/config/history/history.ts';
import type { Registry } from '#core/extension/registry.ts';
import { changeConfig } from '#core/extension/validation/config-actions.ts';
import { VariantRefused } from '#core/extension/validation/variant-rules.ts';
import { integer, object } from '#core/platform/schema.ts';

/*
 * Actions on canaries. A token cannot supply a configuration: it names a file that a person with access to the machine has put
 * next to gateway.yaml, because a configuration decides where prompts and vendor keys go.
 */

/** Minutes before a canary may be promoted automatically. */
const usualMinutes = 10;

const number = integer({ minimum: 1 }, 'Number of the canary, so that no other one is meant.');
const tells = { number: describeInText('operator.told.canary', 'number') };
const canaries = () => import('./record/canaries.ts');

export const beginAction = (registry: Registry) =>
  defineAction({
    name: 'configuration.canary_begin',
    subject: configurationSubject,
    summary: 'serve a file beside gateway.yaml to a share of the accounts',
    input: object(['file', 'share'], {
      file: {
        ...text('Name of the file, in the folder of gateway.yaml on the instance that gets the call.', 100),
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      },
      share: {
        ...text('Of the accounts, from 0.01% to 99.99%, such as 10%.', 6),
        pattern: '^\\d{1,2}(\\.\\d{1,2})?%$',
      },
      minutes: integer(
        { minimum: 1, maximum: 1_440 },
        `Before it may become full by itself. Default: ${usualMinutes}.`,
      ),
      note,
    }),
    tells: {
      file: describeAsIs,
      share: describeInText('operator.told.share', 'share'),
      minutes: describeInText('operator.credit_minutes', 'count'),
    },
    perform: (host, _subject, { file: name, share, minutes = usualMinutes, note: why }, { name: operator }) =>
      changeConfig(host, async ({ documents, read, follow }) => {
        const wish = { share: Number(share.slice(0, -1)) / 100, seconds: minutes * 60, note: why, operator };
        if (wish.share === 0)
          throw new ActionRefused('The share must be from 0.01% to 99.99%, such as 10%.', 'invalid');
        const [{ Canaries }, { startCanary }] = await Promise.all([canaries(), import('./run/start-canary.ts')]);
        const { database } = host;
        const parts = { database, documents, canaries: new Canaries(database, documents.history), registry };
        const { canary, accounts } = await startCanary(parts, await read(), await read(name), wish);
        await follow();
        const [last] = await parts.canaries.list(1);
        if (last?.id === canary.id && last.end?.outcome === 'ended')
          throw new VariantRefused(`Canary ${last.id} has ended: ${last.end.reason}`);
        return { number: canary.id, until: canary.until, accounts };
      }),
  });

export const fullAction = defineAction({
  name: 'configuration.canary_full',
  subject: configurationSubject,
  summary: 'serve the running canary to all accounts',
  input: object(['number'], { number, note }),
  tells,
  perform: (host, _subject, { number: id, note: why }, operator) =>
    changeConfig(host, async ({ documents: { history }, read, follow }) => {
      const { Canaries } = await canaries();
      const all = new Canaries(host.database, history);
      const canary = await all.running();
      const { digest } = await history.describe(await read());
      const reason = canaryReasonBy('full', operator.name, why);
      if (canary?.id !== id || !(await all.makeFull(canary, digest, reason))) throw isOver(id);
      await follow();
    }),
});

export const endAction = defineAction({
  name: 'configuration.canary_end',
  subject: configurationSubject,
  summary: 'end the running canary',
  input: object(['number'], { number, note }),
  tells,
  perform: (host, _subject, { number: id, note: why }, operator) =>
    changeConfig(host, async ({ documents: { history }, follow }) => {
      const { Canaries } = await canaries();
      const reason = canaryReasonBy('ended', operator.name, why);
      if (!(await new Canaries(host.database, history).end(id, 'ended', reason))) throw isOver(id);
      await follow();
    }),
});

const isOver = (id: number) => new RollbackRefused(`canary ${id} does not run any more`);
