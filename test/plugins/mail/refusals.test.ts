import { describe, expect, it } from 'vitest';
import { Refusals } from '../../../plugins/mail/refusals.ts';
import type { SmtpOutcome } from '../../../plugins/mail/smtp.ts';

const sent: SmtpOutcome = { kind: 'sent' };
const refused = (cause: 'recipient' | 'unclear', same = '550'): SmtpOutcome => ({
  kind: 'refused',
  error: same,
  cause,
  refusalKey: same,
});
const later = (same: string): SmtpOutcome => ({ kind: 'later', error: same, isServer: false, refusalKey: same });

/** Notes these outcomes, at a.example, b.example and so on. @returns states of the refused ones, and after how many the run ended */
function run(
  outcomes: readonly SmtpOutcome[],
  domains = 'abcdefgh',
): { states: string[]; endedAfter: number | undefined } {
  const refusals = new Refusals<number>();
  let endedAfter: number | undefined;
  for (const [index, outcome] of outcomes.entries())
    if (refusals.recordOutcome(index, `${domains[index]}.example`, outcome)) {
      endedAfter = index + 1;
      break;
    }
  return { states: refusals.decide().map(({ mail, state }) => `${mail} ${state}`), endedAfter };
}

describe('a run', () => {
  it.each<[string, SmtpOutcome[], string[]]>([
    ['an unknown mailbox alone fails', [refused('recipient')], ['0 failed']],
    ['an unclear refusal alone waits', [refused('unclear')], ['0 waiting']],
    ['an unclear refusal before a mail that was taken fails', [refused('unclear'), sent], ['0 failed']],
    ['an unclear refusal after a mail that was taken fails', [sent, refused('unclear')], ['1 failed']],
    ['two unknown mailboxes fail', [refused('recipient'), refused('recipient')], ['0 failed', '1 failed']],
    [
      'three unknown mailboxes of different domains wait: the server knows no domain',
      [refused('recipient'), refused('recipient'), refused('recipient')],
      ['0 waiting', '1 waiting', '2 waiting'],
    ],
    [
      'refusals that end it wait, an earlier one fails',
      [refused('unclear', 'x'), sent, refused('unclear'), refused('unclear'), refused('unclear')],
      ['0 failed', '2 waiting', '3 waiting', '4 waiting'],
    ],
  ])('%s', (_name, outcomes, states) => {
    expect(run(outcomes).states).toEqual(states);
  });

  it.each<[string, SmtpOutcome[], string, number | undefined]>([
    [
      'ends after the same refusal at three domains in a row',
      [later('550 7.1'), later('550 7.1'), later('550 7.1')],
      'abc',
      3,
    ],
    ['continues after three different ones', [later('550 7.1'), later('450'), later('421')], 'abc', undefined],
    [
      'continues after the same one at two domains',
      [later('x'), later('x'), later('x'), later('x')],
      'abab',
      undefined,
    ],
    [
      'continues after the same ones with a mail between that was taken',
      [later('x'), later('x'), sent, later('x')],
      'abcd',
      undefined,
    ],
    ['ends with a refusal of the sender or the sign-in', [sent, { kind: 'later', error: '', isServer: true }], 'ab', 2],
    ['continues after a mail of which nobody knows', [{ kind: 'uncertain', error: '' }, sent], 'ab', undefined],
  ])('%s', (_name, outcomes, domains, endedAfter) => {
    expect(run(outcomes, domains).endedAfter).toBe(endedAfter);
  });
});
