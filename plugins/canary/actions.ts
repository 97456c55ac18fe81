import { ActionRefused, defineAction, note, text } from '#core/business/operator-actions/action-kind.ts';
import { describeAsIs, describeInText } from '#core/business/operator-actions/member-describers.ts';
import { configurationSubject } from '#core/business/operator-actions/subjects.ts';
import { RollbackRefused } from '#core/config/history/history.ts';
import type { Registry } from '#core/extension/registry.ts';
import { changeConfig } from '#core/extension/validation/config-actions.ts';
import { VariantRefused } from '#core/extension/validation/variant-rules.ts';
import { integer, object } from '#core/platform/schema.ts';
import { Canaries } from './record/canaries.ts';
import { writeOperatorReason } from './record/canary-reason.ts';

/*
 * Actions on canaries. A token cannot supply a configuration, which decides where prompts and vendor keys go. It names a file next to
 * gateway.yaml, which only someone with access to the machine can write.
 */

const defaultMinutes = 10;

const number = integer({ minimum: 1 }, 'Number of the running canary; a different number is refused.');
const tells = { number: describeInText('operator.told.canary', 'number') };

export const createStartAction = (registry: Registry) =>
  defineAction({
    name: 'configuration.canary_begin',
    subject: configurationSubject,
    summary: 'serve a different configuration file to a share of the accounts',
    input: object(['file', 'share'], {
      file: {
        ...text('Name of the file, in the folder of gateway.yaml on the instance that gets the call.', 100),
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      },
      share: {
        ...text('Share of the accounts, from 0.01% to 99.99%, such as 10%.', 6),
        pattern: '^\\d{1,2}(\\.\\d{1,2})?%$',
      },
      minutes: integer(
        { minimum: 1, maximum: 1_440 },
        `Minutes before it may be promoted automatically. Default: ${defaultMinutes}.`,
      ),
      note,
    }),
    tells: {
      file: describeAsIs,
      share: describeInText('operator.told.share', 'share'),
      minutes: describeInText('operator.credit_minutes', 'count'),
    },
    perform: (host, _subject, { file: name, share, minutes = defaultMinutes, note: why }, { name: operator }) =>
      changeConfig(host, async ({ documents, read, follow }) => {
        const options = { share: Number(share.slice(0, -1)) / 100, seconds: minutes * 60, note: why, operator };
        if (options.share === 0)
          throw new ActionRefused('The share must be from 0.01% to 99.99%, such as 10%.', 'invalid');
        const { startCanary } = await import('./run/start-canary.ts');
        const { database } = host;
        const services = { database, documents, canaries: new Canaries(database, documents.history), registry };
        const { canary, accounts } = await startCanary(services, await read(), await read(name), options);
        await follow();
        const [latest] = await services.canaries.list(1);
        if (latest?.id === canary.id && latest.end?.outcome === 'ended')
          throw new VariantRefused(`Canary ${latest.id} has ended: ${latest.end.reason}`);
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
      const canaries = new Canaries(host.database, history);
      const canary = await canaries.findRunning();
      const { digest } = await history.createStoredForm(await read());
      const reason = writeOperatorReason('full', operator.name, why);
      if (canary?.id !== id || !(await canaries.makeFull(canary, digest, reason))) throw createNotRunningError(id);
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
      const reason = writeOperatorReason('ended', operator.name, why);
      if (!(await new Canaries(host.database, history).end(id, 'ended', reason))) throw createNotRunningError(id);
      await follow();
    }),
});

const createNotRunningError = (id: number) => new RollbackRefused(`canary ${id} is no longer running`);
