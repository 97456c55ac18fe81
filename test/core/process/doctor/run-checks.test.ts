import { describe, expect, it } from 'vitest';
import { failed, ok, warning } from '#core/gateway/diagnosis/finding.ts';
import { type NamedCheck, runChecks } from '#core/process/doctor/run-checks.ts';

const asIs = (text: string) => text;
const withoutPassword = (text: string) => text.replaceAll('hunter2', '…');
const throws = () => {
  throw new Error('no such folder');
};

/** What becomes of one check. */
async function findingOf(check: Partial<NamedCheck> & Pick<NamedCheck, 'run'>, redact = asIs) {
  const [found] = await runChecks([{ name: 'disk', ...check }], 60_000, redact);
  return found;
}

describe('checks of daypass doctor', () => {
  it('run at once, and are reported in their order, whichever ends first', async () => {
    const gate = Promise.withResolvers<void>();
    const first: NamedCheck = { name: 'slow', run: () => gate.promise.then(() => ok('waited')) };
    const second: NamedCheck = {
      name: 'quick',
      subject: 'main',
      run: async () => {
        gate.resolve();
        return ok('ran meanwhile');
      },
    };
    const found = await runChecks([first, second], 60_000, asIs);
    expect(found.map(({ check, subject, text }) => [check, subject, text])).toEqual([
      ['slow', undefined, 'waited'],
      ['quick', 'main', 'ran meanwhile'],
    ]);
  });

  it('fail alone when they throw, at once or later', async () => {
    const found = await runChecks(
      [
        { name: 'throws', run: throws },
        { name: 'rejects', run: () => Promise.reject(new Error('no such table')) },
        { name: 'passes', run: async () => ok('fine') },
      ],
      60_000,
      asIs,
    );
    expect(found.map(({ state, text }) => [state, text])).toEqual([
      ['failed', 'no such folder'],
      ['failed', 'no such table'],
      ['ok', 'fine'],
    ]);
    expect(found[0]?.advice).toMatch(/^Read the message/);
  });

  it('fail with the remedy of a known network error', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
    expect(await findingOf({ run: () => Promise.reject(refused) })).toMatchObject({
      state: 'failed',
      text: 'connection refused',
      advice: 'Start the server there, or correct host and port.',
    });
  });

  it('fail with a text also where what is thrown is no error', async () => {
    expect(await findingOf({ run: () => Promise.reject('gone' as never) })).toMatchObject({
      state: 'failed',
      text: 'the check failed',
    });
  });

  it('end at their own deadline where they have one, which aborts what they wait for', async () => {
    let isAborted = false;
    const hangs = (signal: AbortSignal) =>
      new Promise<never>(() => signal.addEventListener('abort', () => (isAborted = true)));
    const found = await findingOf({ timeout: 0.02, run: hangs });
    expect(found).toMatchObject({ state: 'failed', text: 'no result within 0.02 s' });
    expect(found?.advice).toContain('Try a longer `--timeout`');
    expect(isAborted).toBe(true);
  });

  it('abort what they have left running when they have a result', async () => {
    let given: AbortSignal | undefined;
    await findingOf({ run: async (signal) => ((given = signal), ok('fine')) });
    expect(given?.aborted).toBe(true);
  });

  it('have secrets removed from text and advice', async () => {
    expect(await findingOf({ run: async () => warning('is hunter2', 'Not hunter2.') }, withoutPassword)).toMatchObject({
      text: 'is …',
      advice: 'Not ….',
    });
    expect(await findingOf({ run: async () => failed('hunter2 is wrong', 'x') }, withoutPassword)).toMatchObject({
      text: '… is wrong',
    });
  });

  it('have no member for an advice that there is not', async () => {
    expect(await findingOf({ run: async () => ok('fine') })).not.toHaveProperty('advice');
  });
});
