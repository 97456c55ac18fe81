import { describe, expect, it } from 'vitest';
import type { ModelState } from '#core/business/model-health/model-health.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { statusTexts } from '../../../plugins/status/texts.ts';
import { describeVerdict } from '../../../plugins/status/verdict.ts';

const translator = new Translator([statusTexts]);

function say(...states: ModelState[]): string[] {
  return (['en', 'id'] as const).map((language) => describeVerdict(states, translator.in(language)).text);
}

describe('the verdict', () => {
  it('is good when every model works, used or not', () => {
    expect(say('working', 'no_data')).toEqual(['All models work', 'Semua model normal']);
    expect(describeVerdict(['working', 'no_data'], translator.in('en')).state).toBe('working');
  });

  it('counts what is degraded or down', () => {
    expect(say('degraded', 'working', 'working', 'working')).toEqual([
      '1 of 4 models is degraded',
      '1 dari 4 model terganggu',
    ]);
    expect(say('down', 'down', 'working')).toEqual(['2 of 3 models are down', '2 dari 3 model mati']);
    expect(say('down', 'degraded', 'working')).toEqual([
      '1 of 3 models is down, 1 degraded',
      '1 dari 3 model mati, 1 terganggu',
    ]);
  });

  it('is not good while it is unknown whether a model that failed is back', () => {
    expect(say('unknown', 'working')).toEqual([
      '1 of 2 models has had no traffic since it failed',
      '1 dari 2 model belum dipakai lagi sejak gagal',
    ]);
    expect(say('unknown', 'degraded')[0]).toBe('1 of 2 models is degraded');
    expect(describeVerdict(['unknown', 'no_data'], translator.in('en')).state).toBe('unknown');
  });

  it('does not count a single model', () => {
    expect(say('degraded')).toEqual(['The model is degraded', 'Model terganggu']);
    expect(say('down')).toEqual(['The model is down', 'Model mati']);
    expect(say('unknown')).toEqual([
      'The model has had no traffic since it failed',
      'Model belum dipakai lagi sejak gagal',
    ]);
  });

  it('calls neither unused models nor a service without models good', () => {
    expect(say('no_data', 'no_data')).toEqual(['No requests yet', 'Belum ada request']);
    expect(say()).toEqual(['No model is offered right now', 'Belum ada model yang ditawarkan']);
  });
});
