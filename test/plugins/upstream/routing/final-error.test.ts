import { expect, it } from 'vitest';
import { toConnectionFault, routeFault } from '../../../../plugins/upstream/attempt/fault.ts';
import { selectFinalError } from '../../../../plugins/upstream/routing/final-error.ts';

it('a client gets 503 when the gateway could open no connection, even if another route has failed', () => {
  const lacking = Object.assign(new Error('no descriptor is left'), { code: 'EMFILE' });
  const faults = [routeFault('upstream_failed', 'broken'), toConnectionFault(lacking, false)];
  expect(selectFinalError(faults, undefined).code).toBe('unavailable');
});
