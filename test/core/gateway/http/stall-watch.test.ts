import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StallWatch } from '#core/gateway/http/stall-watch.ts';
import { BodyLayers } from '#core/gateway/pipeline/body-layers.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => vi.useRealTimers());

const bodyOf = () => new Readable({ read() {} });

/** Watches a body of a patient stage (100 s) in one of a hasty stage (10 s). */
function watch(isUnread = () => false) {
  const source = bodyOf();
  const layers = new BodyLayers();
  layers.add(source, 'stage "patient"', 100);
  layers.add(bodyOf(), 'stage "hasty"', 10);
  const onStalled = vi.fn<(seconds: number) => void>();
  return { source, onStalled, stalled: new StallWatch(layers, isUnread, onStalled) };
}

const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

it('a body stalls when no chunk has come for as long as its most patient open layer may take', () => {
  const { onStalled, stalled } = watch();
  pass(95);
  stalled.recordChunk();
  pass(99);
  expect(onStalled).not.toHaveBeenCalled();
  pass(11);
  expect(onStalled.mock.calls).toEqual([[100]]);
});

it('a stage has its own time once its source has ended, however long that was silent', () => {
  const { source, onStalled } = watch();
  pass(85);
  source.destroy();
  pass(14);
  expect(onStalled).not.toHaveBeenCalled();
  pass(6);
  expect(onStalled.mock.calls).toEqual([[10]]);
});

it('a body does not stall while its client reads nothing', () => {
  const { onStalled } = watch(() => true);
  pass(1_000);
  expect(onStalled).not.toHaveBeenCalled();
});

it('a body that is over is not watched', () => {
  const { onStalled, stalled } = watch();
  stalled.stop();
  pass(1_000);
  expect(onStalled).not.toHaveBeenCalled();
});
