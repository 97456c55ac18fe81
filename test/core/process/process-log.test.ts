import { fstatSync } from 'node:fs';
import { expect, it } from 'vitest';
import { logWarnings, openProcessLog } from '#core/process/process-log.ts';

function open(environment: NodeJS.ProcessEnv, isTerminal = false) {
  const lines: string[] = [];
  return { ...openProcessLog(environment, isTerminal, (line) => lines.push(line)), lines };
}

it.each([
  ['text on a terminal', {}, true, 'text'],
  ['JSON elsewhere', {}, false, 'json'],
  ['text where LOG_FORMAT says so', { LOG_FORMAT: 'text' }, false, 'text'],
  ['JSON on a terminal where LOG_FORMAT says so', { LOG_FORMAT: 'json' }, true, 'json'],
  ['as usual with an empty LOG_FORMAT', { LOG_FORMAT: '' }, false, 'json'],
])('the log is %s', (_, environment, isTerminal, format) => {
  expect(open(environment, isTerminal).format).toBe(format);
});

it('other values of LOG_FORMAT and LOG_LEVEL are refused', () => {
  expect(() => open({ LOG_FORMAT: 'xml' })).toThrow('LOG_FORMAT is "xml"; use text, json, or unset it');
  expect(() => open({ LOG_LEVEL: 'debug' })).toThrow('LOG_LEVEL is "debug"; use info, warn, error, or unset it');
});

it('secrets of environment and configuration are in no line and no stack', () => {
  const { log, lines, hideSecrets } = open({ OPENAI_API_KEY: 'sk-1234567', REDIS_URL: 'redis://:hunter22@host' });
  hideSecrets(['from-a-file']);
  log.error('sk-1234567 from-a-file', new Error('hunter22', { cause: new Error('postgres://me:other@host/') }));
  log.info('from-a-file');
  expect(lines.join('')).not.toMatch(/sk-1234567|from-a-file|hunter22|other@/);
  expect(lines).toHaveLength(2);
});

it('lines have a priority where stderr is the stream of journald, and nowhere else', () => {
  const { dev, ino } = fstatSync(2, { bigint: true });
  const journal = { JOURNAL_STREAM: `${dev}:${ino}` };
  for (const environment of [journal, { ...journal, LOG_FORMAT: 'text' }]) {
    const { log, lines } = open(environment);
    log.info('one');
    log.warn('two\u2028');
    log.error('three\nfour');
    const marks = lines.flatMap((line) => line.trimEnd().split('\n')).map((line) => line.slice(0, 3));
    expect(marks).toEqual(['<6>', '<4>', '<3>', ...('LOG_FORMAT' in environment ? ['<3>'] : [])]);
  }
  for (const environment of [{}, { JOURNAL_STREAM: `${dev}:${ino + 1n}` }]) {
    const { log, lines } = open(environment);
    log.error('one');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'one' });
  }
});

it('what libraries print as a warning is a line of the log', () => {
  const before = { ...console };
  const listeners = process.listeners('warning');
  const { log, lines } = open({});
  try {
    logWarnings(log);
    console.warn('[WARN] %s of %d', 'one', 2);
    console.error('three\nfour');
  } finally {
    Object.assign(console, before);
    process.removeAllListeners('warning');
    for (const listener of listeners) process.on('warning', listener);
  }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', message: '[WARN] one of 2' },
    { level: 'error', message: 'three\nfour' },
  ]);
});
