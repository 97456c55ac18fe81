import { describe, expect, it } from 'vitest';
import { type TextFormat, textFormats } from '../../../support/formats.ts';
import { refusalBy } from '../codec-fixture.ts';
import { bytesOf, parts, readerOf } from './reply-fixture.ts';

/** The words of each format for an answer that its vendor has withheld. */
const withheld: Readonly<Record<TextFormat, RegExp>> = {
  chat: /"finish_reason":"content_filter"/,
  responses: /"incomplete_details":\{"reason":"content_filter"\}/,
  messages: /"stop_reason":"refusal"/,
  gemini: /"finishReason":"(SAFETY|ESCALATION)"/,
};

const written = (answer: object) => Buffer.from(JSON.stringify(answer));

describe.each(textFormats)('an answer of Gemini, for a %s client,', (client) => {
  it('that an escalation rule has filtered is withheld by policy, whole and streamed', () => {
    const answer = parts([{ text: 'So far' }], 'ESCALATION');
    const whole = readerOf(client, 'gemini', false);
    expect(whole.whole(written(answer), 'application/json').body.toString()).toMatch(withheld[client]);
    const stream = readerOf(client, 'gemini', true);
    expect(stream.push(bytesOf('gemini', [answer])).toString() + stream.end().toString()).toMatch(withheld[client]);
    expect([whole.isPolicyRefusal, stream.isPolicyRefusal]).toEqual([true, true]);
  });

  it('of an account that is limited or disabled is a fault of the key, whole and streamed', () => {
    const answer = parts([{ text: 'So far' }], 'PUP_LIMITED_DISABLED');
    const expected = { code: 'upstream_account_rejected', details: { meaning: 'key' } };
    const read = () => readerOf(client, 'gemini', false).whole(written(answer), 'application/json');
    expect(refusalBy(read)).toMatchObject(expected);
    const stream = readerOf(client, 'gemini', true);
    stream.push(bytesOf('gemini', [answer]));
    expect(stream.failure).toMatchObject(expected);
  });
});
