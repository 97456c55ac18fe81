import { describe, expect, it } from 'vitest';
import {
  renderCsvHeading,
  renderCsvLine,
  renderJsonLine,
} from '../../../../plugins/dashboard/requests/export/exported-request.ts';
import { failover, recordOf, routesAs } from './fixture.ts';

/** Fields of a CSV line without quoted ones. */
const cellsOf = (line: string) => line.trimEnd().split(',');

describe('an exported request', () => {
  it('has as many cells in CSV as the heading has names', () => {
    expect(cellsOf(renderCsvLine(recordOf(failover), routesAs())).length).toBe(
      cellsOf(renderCsvHeading(routesAs())).length,
    );
  });

  it('has times in ISO 8601, and the number of attempts', () => {
    const names = cellsOf(renderCsvHeading(routesAs()));
    const cells = cellsOf(renderCsvLine(recordOf(failover), routesAs()));
    expect([cells[names.indexOf('time')], cells[names.indexOf('attempts')]]).toEqual(['2026-11-22T14:32:07.000Z', '2']);
  });

  it('is no formula in a spreadsheet, whatever a client called itself', () => {
    const line = renderCsvLine(recordOf({ user_agent: '=HYPERLINK("http://evil")', model: '@SUM(A1)' }), routesAs());
    expect(line).toContain('"\'=HYPERLINK(""http://evil"")"');
    expect(line).toContain(",'@SUM(A1),");
  });

  it('keeps to its line, whatever is in it', () => {
    const line = renderCsvLine(recordOf({ error_message: 'first\r\nsecond, "third"' }), routesAs());
    expect(line).toContain('"first\r\nsecond, ""third"""');
    expect(renderJsonLine(recordOf({ error_message: 'first\nsecond' }), routesAs()).split('\n')).toHaveLength(2);
  });

  it('has every attempt in JSON, without what the vendor said', () => {
    const line = renderJsonLine(recordOf(failover), routesAs('names', true));
    expect(JSON.parse(line)).toMatchObject({
      model: 'dp/gpt-6-sol',
      first_token_ms: 1090,
      attempts: [
        { route: 'openai/gpt-6-sol', outcome: 'failed', status: 503, fault: 'route', started_ms: 0, ended_ms: 412 },
        { route: 'other/gpt-6-sol', outcome: 'served', status: 200, fault: null, started_ms: 412, ended_ms: 4280 },
      ],
    });
    expect(line).not.toContain('org-acme');
  });

  it('numbers routes, or leaves them out, as the operator chose', () => {
    const texts = (['numbers', 'hidden'] as const).map((sight) => {
      const routes = routesAs(sight);
      return (
        renderCsvHeading(routes) +
        renderCsvLine(recordOf(failover), routes) +
        renderJsonLine(recordOf(failover), routes)
      );
    });
    expect(texts.map((text) => /openai|other\//.test(text))).toEqual([false, false]);
    expect(texts.map((text) => text.includes('route,') || text.includes('"route":'))).toEqual([true, false]);
  });
});
