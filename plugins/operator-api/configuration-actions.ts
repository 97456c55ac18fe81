import { canaryReasonBy } from '#core/config/history/canary-reason.ts';
import { ActionRefused, defineAction, note, text } from '#core/business/operator-actions/action-kind.ts';
import { configurationSubject } from '#core/business/operator-actions/subjects.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { RollbackRefused } from '#core/config/history/history.ts';
import { CanaryRefused } from '#core/extension/validation/canary-rules.ts';
import { type ConfigChanges, configLoadState } from '#core/extension/validation/load-state.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { integer, object } from '#core/platform/schema.ts';

/** Minutes before a canary may become full by itself. */
const usualMinutes = 10;

const number = integer({ minimum: 1 }, 'Number of the canary, so that no other one is meant.');

/**
 * What the API does with canaries. A token brings no configuration along: it names a file that somebody with access to the machine has put
 * beside gateway.yaml, because a configuration decides where prompts and the keys of vendors go.
 */
export const configurationActions = [
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
    async perform(host, _subject, { file, share, minutes = usualMinutes, note: why }, operator) {
      const wish = {
        share: Number(share.slice(0, -1)) / 100,
        seconds: minutes * 60,
        note: why,
        operator: operator.name,
      };
      if (wish.share === 0) throw new ActionRefused('The share must be from 0.01% to 99.99%, such as 10%.', 'invalid');
      const { canary, accounts } = await change(host, (changes) => changes.beginCanary(file, wish));
      return { number: canary.id, until: canary.until, accounts };
    },
  }),
  defineAction({
    name: 'configuration.canary_full',
    subject: configurationSubject,
    summary: 'serve the running canary to all accounts',
    input: object(['number'], { number, note }),
    perform: (host, _subject, { number: id, note: why }, operator) =>
      change(host, (changes) => changes.makeFull(id, canaryReasonBy('full', operator.name, why))),
  }),
  defineAction({
    name: 'configuration.canary_end',
    subject: configurationSubject,
    summary: 'end the running canary',
    input: object(['number'], { number, note }),
    perform: (host, _subject, { number: id, note: why }, operator) =>
      change(host, (changes) => changes.endCanary(id, canaryReasonBy('ended', operator.name, why))),
  }),
] as const;

/** @throws ActionRefused with the reason of the configuration's rules */
async function change<T>(host: Host, work: (changes: ConfigChanges) => Promise<T>): Promise<T> {
  const { changes } = configLoadState(host);
  if (changes === undefined) throw new ActionRefused('The gateway is still starting. Try again in a moment.');
  try {
    return await work(changes);
  } catch (error) {
    const isRefusal =
      error instanceof CanaryRefused || error instanceof RollbackRefused || error instanceof ConfigError;
    throw isRefusal ? new ActionRefused(error.message) : error;
  }
}

/** What serves: gateway.yaml or what an operator went back to, and the last canary with the counts of both sides. */
export async function readConfiguration(host: Host): Promise<object> {
  const { loadedAt, refusal, rollback, changes } = configLoadState(host);
  const [canary] = (await changes?.canaries.list(1)) ?? [];
  return {
    loadedAt: new Date(loadedAt),
    refused: refusal === undefined ? null : { at: new Date(refusal.at), reason: refusal.reason },
    inPlaceOfFile:
      rollback === undefined
        ? null
        : {
            configuration: rollback.configurationId,
            canary: rollback.canary ?? null,
            operator: rollback.operator,
            note: rollback.note ?? null,
            since: rollback.createdAt,
          },
    canary:
      canary === undefined
        ? null
        : {
            number: canary.id,
            share: canary.share,
            operator: canary.operator,
            note: canary.note ?? null,
            startedAt: canary.startedAt,
            until: canary.until,
            verdict: canary.verdict ?? null,
            counts: canary.counts ?? null,
            end: canary.end ?? null,
          },
  };
}
