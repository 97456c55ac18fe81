import { describe, expect, it } from 'vitest';
import {
  parseHistory,
  tryBounds,
  type TryMessage,
  encodeHistory,
} from '../../../../plugins/dashboard/try/conversation.ts';

const user = (content: string): TryMessage => ({ role: 'user', content });
const assistant = (content: string): TryMessage => ({ role: 'assistant', content });

describe('the conversation in a form', () => {
  it('is read as it was written', () => {
    const messages = [user('Halo "kamu"'), assistant('<b>\n漢😀'), user('again')];
    expect(parseHistory(encodeHistory(messages))).toEqual(messages);
  });

  it.each([
    ['nothing', undefined],
    ['no JSON', '{'],
    ['no list', '{"role":"user"}'],
    ['strangers in the list', '[1,null,{"role":"system","content":"x"},{"role":"user","content":["x"]}]'],
  ])('is empty for %s', (_name, text) => {
    expect(parseHistory(text)).toEqual([]);
  });

  it('keeps the latest messages, and begins with one of the user', () => {
    const messages = Array.from({ length: 31 }, (_, index) => (index % 2 === 0 ? user : assistant)(String(index)));
    const kept = parseHistory(encodeHistory(messages));
    expect(kept.at(-1)).toEqual(user('30'));
    expect(kept[0]?.role).toBe('user');
    expect(kept.length).toBeLessThanOrEqual(tryBounds.messages);
  });

  it('fits into a form, however long its messages are', () => {
    const messages = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? user : assistant)('漢'.repeat(2_000)));
    const written = encodeHistory([...messages, user('short')]);
    expect(encodeURIComponent(written).length).toBeLessThanOrEqual(tryBounds.history);
    expect(parseHistory(written).at(-1)).toEqual(user('short'));
  });
});
