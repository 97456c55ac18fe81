import { models } from '#core/config/sections/models-section.ts';
import type { CheckContext, Report, YamlPath } from '#core/config/section.ts';
import type { UpstreamSettings } from './options.ts';

const withinDeadline = ['connect_timeout', 'first_byte_timeout'] as const;

/**
 * Reports timeouts that never apply, because the deadline of all attempts comes first: then no other route is tried either.
 * `idle_timeout` may be longer, since the deadline does not apply to the rest of a stream.
 */
export function checkTimeouts(
  settings: UpstreamSettings,
  path: YamlPath,
  report: Report,
  all: Pick<CheckContext, 'get'>,
): void {
  const { deadline, breaker } = settings;
  const compare = (place: YamlPath, value: number | undefined) => {
    if (value === undefined || value <= deadline) return;
    const wrong = `is ${value} s, longer than the deadline of ${deadline} s for all attempts together`;
    report(place, wrong, 'shorten it, or raise the deadline of the stage upstream');
  };
  for (const name of withinDeadline) compare([...path, name], settings[name]);
  for (const [model, { routes, hedge_after }] of Object.entries(all.get(models) ?? {})) {
    compare(['models', model, 'hedge_after'], hedge_after);
    for (const [index, route] of routes.entries()) {
      if (typeof route === 'string') continue;
      for (const name of withinDeadline) compare(['models', model, 'routes', index, name], route[name]);
    }
  }
  if (breaker.cooldown > breaker.longest_cooldown) {
    const wrong = `is ${breaker.cooldown} s, longer than longest_cooldown (${breaker.longest_cooldown} s)`;
    report([...path, 'breaker', 'cooldown'], wrong, 'shorten it, or raise longest_cooldown');
  }
}
