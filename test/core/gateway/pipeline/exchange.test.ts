import { describe, expect, expectTypeOf, it } from 'vitest';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import { ClientGone, GatewayError } from '#core/platform/errors/table.ts';
import { createExchange } from '../../../support/exchange.ts';

const color = defineFact<'red' | 'blue'>('color');

describe('a fact', () => {
  it('is what was set', () => {
    const exchange = createExchange();
    exchange.set(color, 'red');
    expect(exchange.get(color)).toBe('red');
  });

  it('that was not set cannot be read, and the message names it', () => {
    expect(() => createExchange().get(color)).toThrow('fact color is read before any stage has written it');
  });

  it('that was not set can be looked for', () => {
    expect(createExchange().find(color)).toBeUndefined();
  });

  it('may be set to undefined', () => {
    const maybe = defineFact<string | undefined>('maybe');
    const exchange = createExchange();
    exchange.set(maybe, undefined);
    expect(exchange.get(maybe)).toBeUndefined();
  });

  it('is another one than a fact of the same name', () => {
    const exchange = createExchange();
    exchange.set(color, 'red');
    expect(exchange.find(defineFact('color'))).toBeUndefined();
  });

  it('belongs to one exchange', () => {
    createExchange().set(color, 'red');
    expect(createExchange().find(color)).toBeUndefined();
  });

  it('has the type of its definition', () => {
    const exchange = createExchange();
    expectTypeOf(exchange.find(color)).toEqualTypeOf<'red' | 'blue' | undefined>();
    // @ts-expect-error -- green is no color
    exchange.set(color, 'green');
  });

  it('cannot be changed itself', () => {
    expect(Object.isFrozen(color)).toBe(true);
  });
});

describe('an exchange', () => {
  it('keeps the first reason that broke it off', () => {
    const exchange = createExchange();
    const [first, second] = [new GatewayError('internal_error', '1'), new GatewayError('internal_error', '2')];
    exchange.fail(first);
    exchange.fail(second);
    expect(exchange.failure).toBe(first);
  });

  it('tells its listeners once why it was aborted', () => {
    const exchange = createExchange();
    const reasons: Error[] = [];
    exchange.onAbort((reason) => reasons.push(reason));
    const [first, second] = [new ClientGone(), new ClientGone()];
    for (const reason of [first, second]) exchange.abort(reason);
    expect(reasons).toEqual([first]);
  });

  it('keeps the first reason for which it was aborted', () => {
    const exchange = createExchange();
    exchange.abort(new GatewayError('shutting_down', 'stop'));
    exchange.abort(new ClientGone());
    expect(exchange.isClientGone).toBe(false);
  });

  it('knows that its client has left', () => {
    const exchange = createExchange();
    exchange.abort(new ClientGone());
    expect([exchange.isClientGone, exchange.signal.aborted]).toEqual([true, true]);
  });

  it('has the format of its endpoint', () => {
    expect(createExchange().format?.name).toBe('chat');
  });
});
