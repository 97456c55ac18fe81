import { describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { planWorkers, readWorkerPlan } from '#core/process/workers/plan.ts';

const redis = { REDIS_URL: 'redis://127.0.0.1:6379' };
const plan = (text: string, environment: NodeJS.ProcessEnv = redis) =>
  planWorkers(parseDocument(text, '/etc/daypass/gateway.yaml', environment));

describe('workers', () => {
  it('get their number, port, operator listener and data folder from gateway.yaml, with its defaults', () => {
    expect(plan('workers: 3\nlisten: { host: 127.0.0.1, port: 8443 }\ndata: { folder: ../data }\n')).toEqual({
      count: 3,
      address: { host: '127.0.0.1', port: 8443 },
      operator: { host: '127.0.0.1', port: 9443 },
      dataFolder: '/etc/data',
    });
  });

  it('have an operator listener on a socket in the data folder, or none', () => {
    expect(plan('workers: 2\noperator: { socket: o.sock }\ndata: { folder: /var/d }\n')?.operator).toEqual({
      path: '/var/d/o.sock',
    });
    expect(plan('workers: 2\noperator: { enabled: false }\n')).toMatchObject({ count: 2, operator: undefined });
  });

  it.each([
    ['of one process', 'workers: 1\n', redis],
    ['that has no Redis', 'workers: 2\n', {}],
    ['with a mistake, which the start of one process reports', 'workers: 65\n', redis],
    ['with a mistake in another section that is read here', 'workers: 2\nlisten: { port: high }\n', redis],
  ])('are not planned for a gateway %s', (_, text, environment) => {
    expect(plan(text, environment)).toBeUndefined();
  });

  it('of `auto` are as many as have 512 MB each, at least one', () => {
    expect(plan('workers: auto\nmemory: { max_bytes: 600000000 }\n')).toBeUndefined();
  });

  it('are found by a command also where the gateway has one process, to say that it has no supervisor', () => {
    expect(readWorkerPlan(parseDocument('workers: 1\n', '/etc/daypass/gateway.yaml', {}))?.count).toBe(1);
  });
});
