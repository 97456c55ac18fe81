import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { BodyLayers } from '#core/gateway/pipeline/body-layers.ts';
import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import { createExchange } from '../../../support/exchange.ts';

const silent = { info() {}, warn() {}, error() {} };
const bodyOf = () => new Readable({ read() {} });

/** The layers of a reply of these stages, each of which may wait for 20 s or the time it states. */
async function layersOf(...stages: Stage[]): Promise<BodyLayers> {
  const exchange = createExchange();
  const named = stages.map((stage, index) => ({ name: `stage-${index}`, stage }));
  await new Pipeline(named, silent, [], 20).answer(exchange);
  return exchange.bodyLayers;
}

const giving = (body: Readable): Stage => ({ enter: () => ({ status: 200, headers: {}, body }) });
/** A stage that pipes a body by hand: it hears of the end, and of no error. */
const piping: Stage = {
  leave: (_exchange, reply) => ({ ...reply, body: (reply.body as Readable).pipe(new PassThrough()) }),
};

describe('a body may be silent', () => {
  it('for as long as the stage that has made it may wait, whatever later stages may', async () => {
    expect((await layersOf(piping, giving(bodyOf()), { timeout: 600 })).stallTimeoutSeconds).toBe(20);
    expect((await layersOf(piping, { ...giving(bodyOf()), timeout: 90 })).stallTimeoutSeconds).toBe(90);
  });

  it('for as long as a stage around it may wait', async () => {
    expect((await layersOf({ ...piping, timeout: 90 }, giving(bodyOf()))).stallTimeoutSeconds).toBe(90);
  });

  it('for the usual time if its stage bounds its waits itself', async () => {
    expect((await layersOf({ ...giving(bodyOf()), timeout: Infinity })).stallTimeoutSeconds).toBe(20);
  });

  it('for the time of the stage around it once its source has broken', async () => {
    const source = bodyOf();
    const layers = await layersOf(piping, { ...giving(source), timeout: 600 });
    expect([layers.stallTimeoutSeconds, layers.minStallTimeoutSeconds]).toEqual([600, 20]);
    source.destroy(new Error('cut'));
    expect(layers.stallTimeoutSeconds).toBe(20);
  });
});

describe('the stage that is named', () => {
  it('is the innermost whose stream is open: the others wait for it', async () => {
    const source = bodyOf();
    const layers = await layersOf(piping, giving(source));
    expect(layers.stalledOwner).toBe('stage "stage-1"');
    source.destroy(new Error('cut'));
    expect([layers.stalledOwner, layers.failedOwner]).toEqual(['stage "stage-0"', 'stage "stage-1"']);
  });

  it('is the one around a stream that it does not read', async () => {
    const source = bodyOf();
    source.push('unread');
    const ignoring: Stage = { leave: (_exchange, reply) => ({ ...reply, body: bodyOf() }) };
    expect((await layersOf(ignoring, giving(source))).stalledOwner).toBe('stage "stage-0"');
  });
});

it('every layer is closed with the body, although a pipe does not close its source', async () => {
  const source = bodyOf();
  (await layersOf(piping, giving(source))).close();
  expect(source.destroyed).toBe(true);
});
