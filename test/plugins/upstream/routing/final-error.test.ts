import { expect, it } from 'vitest';
import { createConnectionFault, createRouteFault } from '../../../../plugins/upstream/attempt/fault.ts';
import { selectFinalError } from '../../../../plugins/upstream/routing/final-error.ts';

it('a client gets 503 when the gateway could open no connection, even if another route has failed', () => {
  const lacking = Object.assign(new Error('no descriptor is left'), { code: 'EMFILE' });
  const faults = [createRouteFault('upstream_failed', 'broken'), createConnectionFault(lacking, false)];
  expect(selectFinalError(faults, undefined).code).toBe('unavailable');
});
