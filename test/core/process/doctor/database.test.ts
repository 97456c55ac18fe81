import { expect, it } from 'vitest';
import { judgeServer, type ServerRow } from '#core/process/doctor/database.ts';

const healthy: ServerRow = {
  version: '18.1',
  standby: false,
  read_only: false,
  read_only_file: null,
  at: 0,
  used: 1,
  most: 100,
  creates: true,
};

it.each<[string, Partial<ServerRow>, string | undefined, RegExp]>([
  ['a replica', { standby: true }, 'DATABASE_URL', /^Point DATABASE_URL to the primary/],
  ['a replica', { standby: true }, 'DATABASE_DIRECT_URL', /^Point DATABASE_DIRECT_URL to the primary/],
  ['a server whose disk is full', { read_only: true }, 'DATABASE_URL', /disk is full.* RESET default_transaction/],
  [
    'the embedded one, by a file',
    { read_only: true, read_only_file: '/d/x.conf' },
    undefined,
    /^Remove .* \/d\/x\.conf/,
  ],
  ['the embedded one, by its database', { read_only: true }, undefined, /postgres\.json.* RESET default_transaction/],
  ['the embedded one, as a replica', { standby: true }, undefined, /^Remove standby\.signal/],
])('advises what makes %s writable', (_, row, variable, advice) => {
  expect(judgeServer({ ...healthy, ...row }, 0, variable)).toEqual({
    state: 'failed',
    text: 'PostgreSQL 18.1 is read-only',
    advice: expect.stringMatching(advice) as string,
  });
});

it('never sends the operator of an embedded server to a variable that is not set', () => {
  for (const row of [{ standby: true }, { read_only: true }, { read_only: true, read_only_file: 'x' }])
    expect(JSON.stringify(judgeServer({ ...healthy, ...row }, 0, undefined))).not.toContain('_URL');
});
