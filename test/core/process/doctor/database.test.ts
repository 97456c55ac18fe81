import { expect, it } from 'vitest';
import { evaluateServer, type ServerRow } from '#core/process/doctor/database.ts';

const healthy: ServerRow = {
  version: '18.1',
  standby: false,
  read_only: false,
  read_only_file: null,
  clock_ms: 0,
  used_connections: 1,
  max_connections: 100,
  can_create: true,
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
])('daypass doctor advises what makes %s writable', (_, row, variable, advice) => {
  expect(evaluateServer({ ...healthy, ...row }, 0, variable)).toEqual({
    state: 'failed',
    text: 'PostgreSQL 18.1 is read-only',
    advice: expect.stringMatching(advice) as string,
  });
});

it('daypass doctor never sends the operator of an embedded server to a variable that is not set', () => {
  for (const row of [{ standby: true }, { read_only: true }, { read_only: true, read_only_file: 'x' }])
    expect(JSON.stringify(evaluateServer({ ...healthy, ...row }, 0, undefined))).not.toContain('_URL');
});

it('daypass doctor passes a server that writes, whose clock is right, and that has connections left', () => {
  expect(evaluateServer({ ...healthy, used_connections: 90 }, 5_499, 'DATABASE_URL')).toEqual({
    state: 'ok',
    text: 'PostgreSQL 18.1, 90 of 100 connections',
  });
});

it('daypass doctor fails a server whose user may not create tables, and says who may allow it', () => {
  expect(evaluateServer({ ...healthy, can_create: false }, 0, 'DATABASE_DIRECT_URL')).toEqual({
    state: 'failed',
    text: 'PostgreSQL 18.1: its user may not create tables',
    advice: 'As its owner: GRANT CREATE ON SCHEMA public TO the user of DATABASE_DIRECT_URL.',
  });
});

it.each([
  ['ahead', 6_000],
  ['behind', -6_000],
])('daypass doctor warns of a clock of the database that is %s by more than five seconds', (_, at) => {
  expect(evaluateServer({ ...healthy, clock_ms: at }, 0, 'DATABASE_URL')).toMatchObject({
    state: 'warning',
    text: 'PostgreSQL 18.1: its clock differs by 6 s',
  });
});

it('daypass doctor warns of a server that has used up nine tenths of its connections', () => {
  expect(evaluateServer({ ...healthy, used_connections: 91 }, 0, 'DATABASE_URL')).toMatchObject({
    state: 'warning',
    text: 'PostgreSQL 18.1: 91 of 100 connections are in use',
  });
});
