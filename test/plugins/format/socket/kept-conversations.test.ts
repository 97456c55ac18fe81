import { describe, expect, it } from 'vitest';
import { createItemsOutline } from '#core/platform/json-outline/outline.ts';
import { type KeptConversation, KeptConversations } from '../../../../plugins/format/socket/kept-conversations.ts';

const MiB = 1024 ** 2;
const bytes = (size: number) => [Buffer.alloc(size, 'x')];

function setUp(limits = {}, mayKeep: (bytes: number) => boolean = () => true) {
  return new KeptConversations({ totalBytes: 10 * MiB, accountBytes: 5 * MiB, ...limits }, mayKeep);
}

/** Keeps what nothing came before. */
function keep(kept: KeptConversations, id: string, size: number, account = 'a'): KeptConversation | undefined {
  return kept.keep(account, id, [], bytes(size));
}

/** A message of so many bytes in short texts, a third of which is in their outline. */
function manyTexts(size: number): Buffer[] {
  const content = Array.from({ length: size / 100 }, () => 'x'.repeat(97));
  return [Buffer.from(`{"role":"user","content":${JSON.stringify(content)}},`)];
}

/** Bytes of the outline of such a message. */
const outlineSize = (size: number) => createItemsOutline(Buffer.concat(manyTexts(size)))?.size ?? 0;

const isLong = (size: number) => size > 10_000;

describe('kept conversations', () => {
  it('share what they have in common, until the last of them is dropped', () => {
    const kept = setUp();
    const first = keep(kept, 'r1', MiB) as KeptConversation;
    const fork = kept.keep('a', 'r2', first.segments, bytes(10)) as KeptConversation;
    expect(fork.segments.map((segment) => segment.bytes.length)).toEqual([MiB, 10]);
    expect(kept.heldBytes).toBeLessThan(MiB + 4_096);
    kept.drop(first);
    expect(fork.segments[0]?.bytes.toString('latin1', 0, 3)).toBe('xxx');
    kept.drop(fork);
    expect([kept.heldBytes, kept.size]).toEqual([0, 0]);
  });

  it('of many short turns have few segments, and count the memory around each', () => {
    const kept = setUp();
    let last = kept.keep('a', 'r0', [], bytes(10)) as KeptConversation;
    for (let turn = 1; turn < 1_000; turn++) {
      const next = kept.keep('a', `r${turn}`, last.segments, bytes(100)) as KeptConversation;
      kept.drop(last);
      last = next;
    }
    expect(Buffer.concat(last.segments.map((segment) => segment.bytes)).length).toBe(10 + 999 * 100);
    expect(last.segments.length).toBeLessThan(14);
    expect(kept.heldBytes).toBeGreaterThan(10 + 999 * 100 + last.segments.length * 896);
    kept.drop(last);
    expect(kept.heldBytes).toBe(0);
  });

  it('without an earlier turn count more than their few bytes', () => {
    const kept = setUp();
    for (let index = 0; index < 100; index++) keep(kept, `r${index}`, 1);
    expect(kept.heldBytes).toBeGreaterThan(100 * 1_900);
  });

  it('are looked through once for all turns, and count what is kept of that', () => {
    const kept = setUp();
    const items = Buffer.from(`{"role":"user","content":"${'x'.repeat(20_000)}"},`);
    const { segments } = kept.keep('a', 'r1', [], [items]) as KeptConversation;
    const before = kept.heldBytes;
    const [outline] = segments.map((segment) => segment.outline);
    expect(outline?.text).toBe(`{"role":"user","content":"${'x'.repeat(32)}~cut"},`);
    expect(segments[0]?.outline).toBe(outline);
    expect(kept.heldBytes).toBe(before + (outline?.size ?? 0));
    kept.free(1);
    expect(kept.heldBytes).toBe(0);
  });

  it('have no more outlines than fit into the bound of their account, for which its others go', () => {
    const kept = setUp({ accountBytes: 340_000 });
    const other = keep(kept, 'r1', 60_000) as KeptConversation;
    const foreign = keep(kept, 'o', 60_000, 'b') as KeptConversation;
    const long = kept.keep('a', 'r2', [], manyTexts(100_000)) as KeptConversation;
    const fork = kept.keep('a', 'r3', long.segments, manyTexts(150_000)) as KeptConversation;
    const outlines = fork.segments.map(({ outline }) => outline?.size ?? 0);
    expect(outlines).toEqual([expect.toSatisfy(isLong), expect.toSatisfy(isLong)]);
    expect([other.isEvicted, fork.isEvicted, foreign.isEvicted]).toEqual([true, false, false]);
    const held = kept.heldBytes - 62_000;
    expect(held).toBeLessThanOrEqual(340_000);
    // Found again, but not kept beyond it.
    expect(fork.segments[1]?.outline).toBeDefined();
    expect(kept.heldBytes - 62_000).toBe(held);
  });

  it.each([
    ['the bound of all', { totalBytes: 300_000 }, () => true],
    ['the bound of their account', { accountBytes: 300_000 }, () => true],
    ['the memory of the process', { accountBytes: 355_000 }, (size: number) => size !== outlineSize(250_000)],
  ])('lose none of the others to an outline that does not fit into %s all the same', (_bound, limits, mayKeep) => {
    const kept = setUp(limits, mayKeep);
    const own = keep(kept, 'r1', 20_000) as KeptConversation;
    const foreign = keep(kept, 'o', 20_000, 'b') as KeptConversation;
    const long = kept.keep('a', 'r2', [], manyTexts(250_000)) as KeptConversation;
    const { heldBytes } = kept;
    expect(long.segments[0]?.outline?.size).toBe(outlineSize(250_000));
    expect([own.isEvicted, foreign.isEvicted, kept.heldBytes]).toEqual([false, false, heldBytes]);
  });

  it('are not dropped for an outline when what they free is in use', () => {
    const kept = setUp({ accountBytes: 400_000 });
    const own = keep(kept, 'r1', 100_000) as KeptConversation;
    for (const segment of own.segments) segment.addHolder();
    const long = kept.keep('a', 'r2', [], manyTexts(250_000)) as KeptConversation;
    expect(long.segments[0]?.outline).toBeDefined();
    expect(own.isEvicted).toBe(false);
    own.segments[0]?.removeHolder();
    expect(long.segments[0]?.outline).toBeDefined();
    expect(own.isEvicted).toBe(true);
  });

  it('of other accounts stay when an outline needs their room', () => {
    const kept = setUp({ totalBytes: 340_000 });
    const foreign = keep(kept, 'o', 60_000, 'b') as KeptConversation;
    const long = kept.keep('a', 'r2', [], manyTexts(250_000)) as KeptConversation;
    expect(long.segments[0]?.outline).toBeDefined();
    expect(foreign.isEvicted).toBe(false);
  });

  it('of an account lose their outlines rather than their last response', () => {
    const kept = setUp({ accountBytes: 160_000 });
    const first = kept.keep('a', 'r1', [], manyTexts(100_000)) as KeptConversation;
    expect(first.segments[0]?.outline).toBeDefined();
    const next = kept.keep('a', 'r2', first.segments, bytes(50_000)) as KeptConversation;
    expect(next.isEvicted).toBe(false);
    kept.drop(first);
    expect(kept.heldBytes).toBeLessThanOrEqual(160_000);
  });

  it('are copies, so that the frame they came in is freed', () => {
    const frame = Buffer.from('abcdef');
    const [segment] = setUp().keep('a', 'r', [], [frame.subarray(1, 3)])?.segments ?? [];
    expect([segment?.bytes.toString(), segment?.bytes.buffer.byteLength]).toEqual(['bc', 2]);
  });

  it('of an account are bounded: what it used longest ago goes first', () => {
    const kept = setUp();
    const [one, two] = [keep(kept, 'r1', 2 * MiB), keep(kept, 'r2', 2 * MiB)] as [KeptConversation, KeptConversation];
    const other = keep(kept, 'o', 2 * MiB, 'b') as KeptConversation;
    kept.touch(one);
    keep(kept, 'r3', 2 * MiB);
    expect([one.isEvicted, two.isEvicted, other.isEvicted]).toEqual([false, true, false]);
  });

  it('of all accounts are bounded', () => {
    const kept = setUp();
    const first = keep(kept, 'r', 4 * MiB, 'a0') as KeptConversation;
    for (let index = 1; index < 4; index++) keep(kept, 'r', 4 * MiB, `a${index}`);
    expect(first.isEvicted).toBe(true);
    expect(kept.heldBytes).toBeLessThanOrEqual(10 * MiB);
  });

  it('are none where one is longer than the bound of an account', () => {
    const kept = setUp();
    expect(keep(kept, 'r', 6 * MiB)).toBeUndefined();
    expect(kept.heldBytes).toBe(0);
  });

  it('are given back when the process needs the room', () => {
    const kept = setUp();
    const conversations = Array.from({ length: 4 }, (_, index) => keep(kept, `r${index}`, MiB) as KeptConversation);
    kept.free(1.5 * MiB);
    expect(conversations.map(({ isEvicted: isGone }) => isGone)).toEqual([true, true, false, false]);
  });

  it('make room for a new one, or are without it', () => {
    let room = true;
    const kept = setUp({}, () => room);
    const first = keep(kept, 'r1', MiB) as KeptConversation;
    room = false;
    expect(keep(kept, 'r2', MiB)).toBeUndefined();
    expect(first.isEvicted).toBe(true);
  });

  it('stay as long as they are read', () => {
    const kept = setUp();
    const first = keep(kept, 'r1', 100) as KeptConversation;
    const [segment] = first.segments.map((one) => one.addHolder());
    kept.drop(first);
    expect(segment?.bytes.length).toBe(100);
    segment?.removeHolder();
    expect(segment?.bytes.length).toBe(0);
  });
});
