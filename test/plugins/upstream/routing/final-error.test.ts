import { expect, it } from 'vitest';
import { connectionFault, routeFault } from '../../../../plugins/upstream/attempt/fault.ts';
import { summarize } from '../../../../plugins/upstream/routing/final-error.ts';

it('a client gets 503 when the gateway could open no connection, even if another route has failed', () => {
  const lacking = Object.assign(new Error('no descriptor is left'), { code: 'EMFILE' });
  const faults = [routeFault('upstream_failed', 'broken'), connectionFault(lacking, false)];
  expect(summarize(faults, undefined).code).toBe('unavailable');
});
