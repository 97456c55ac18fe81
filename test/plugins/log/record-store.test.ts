import { expect, it } from 'vitest';
import { PublishingStore } from '../../../plugins/log/record-store.ts';
import { MemoryStore } from './fixture.ts';

const one = '019aa5f0-0000-7000-8000-000000000001';
const two = '019aa5f0-0000-7000-8000-000000000002';
const record = (id: string, more = '') => `{"at":"end","id":"r"${more},"account_id":"${id}","outcome":"answered"}`;

it('the record store announces the accounts of a batch once it is committed', async () => {
  const announced: string[][] = [];
  const store = new PublishingStore(new MemoryStore(), (ids) => announced.push([...ids]));
  await store.insert('test', [record(one), record(two), record(one), '{"at":"end","id":"r","outcome":"refused"}']);
  expect(announced).toEqual([[one, two]]);
});

it('the store of records takes no account from what clients send', async () => {
  const announced: string[][] = [];
  const store = new PublishingStore(new MemoryStore(), (ids) => announced.push([...ids]));
  const agent = JSON.stringify(`"account_id":"${two}"`);
  await store.insert('test', [record(one, `,"user_agent":${agent}`)]);
  expect(announced).toEqual([[one]]);
});

it('the record store announces nothing of a batch that the database refuses', async () => {
  const announced: string[][] = [];
  const refusing = Object.assign(new MemoryStore(), { insert: () => Promise.reject(new Error('refused')) });
  const store = new PublishingStore(refusing, (ids) => announced.push([...ids]));
  await expect(store.insert('test', [record(one)])).rejects.toThrow('refused');
  expect(announced).toEqual([]);
});
