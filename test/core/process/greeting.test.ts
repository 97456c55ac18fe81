import { describe, expect, it } from 'vitest';
import type { Model } from '#core/config/catalog/catalog.ts';
import { formatGreeting } from '../../../core/process/greeting.ts';
import { hostOf, modelOf } from '../../plugins/format/catalog/catalog-fixture.ts';
import { routeTo, upstreamAt } from '../../plugins/upstream/fixture.ts';

const painter = modelOf('painter', ['images']);
const chat = modelOf('chat');
const upstream = { ...upstreamAt('http://127.0.0.1:1/v1', { formats: ['chat'] }), isDemo: true };
const demo = modelOf('demo', ['chat'], { routes: [routeTo(upstream)] });

const greet = (models: readonly Model[], chatModels: readonly Model[]) =>
  formatGreeting(
    { host: hostOf(models), chatModels, url: 'http://127.0.0.1:8787', notices: [] },
    undefined,
    undefined,
  ).join('\n');

describe('the curl line of the start', () => {
  it('calls the first model that holds conversations', () => {
    expect(greet([painter, chat], [chat])).toContain('"model":"dp/chat"');
  });

  it('prefers a model of the demo upstream', () => {
    expect(greet([painter, chat, demo], [chat, demo])).toContain('"model":"dp/demo"');
  });

  it('is left out where no model holds conversations', () => {
    expect(greet([painter], [])).not.toContain('curl');
  });
});
