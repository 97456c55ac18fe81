import { defineSection } from '#core/config/section.ts';
import { models } from '#core/config/sections/models-section.ts';
import { boolean, integer, number, object, string } from '#core/platform/schema.ts';

export const probesSection = defineSection({
  name: 'probes',
  schema: object(
    { default: {} },
    'Tries each route with tiny requests, to find out whether it still does what it declares. Off by default, because vendors bill them.',
    {
      enabled: boolean({ default: false }, 'True to try the routes.'),
      every_hours: number({ minimum: 1, maximum: 720, default: 24 }, 'Hours between two probes of a route.'),
      daily_tokens: integer(
        { minimum: 1000, maximum: 100_000_000, default: 50_000 },
        'Tokens that the probes of one upstream may use in 24 hours, input and output together. Probes beyond the limit wait.',
      ),
      context_every_days: number(
        { minimum: 0, maximum: 365, default: 7 },
        'Days between two prompts that fill the declared context window (`max_input_tokens`); 0 for none. Such a prompt must fit into `daily_tokens`.',
      ),
      on_drift: string(
        { enum: ['flag', 'last'], default: 'flag' },
        'What happens to a route that no longer does what it declares: it is only reported, or also tried after the other routes of its model. Changed fingerprints are only reported.',
      ),
      publish: boolean(
        { default: false },
        'Shows on the status page, for each model, when its routes were last probed, whether they do what they declare, and whether their fingerprints are unchanged.',
      ),
    },
  ),
  notices({ enabled, every_hours: every, daily_tokens: tokens, context_every_days: days }, sections) {
    if (!enabled || days === 0) return [];
    const oversizedModels = Object.entries(sections.get(models)).flatMap(
      ([name, { max_input_tokens: modelWindow, routes }]) => {
        const declaredWindows = routes.map((route) =>
          typeof route === 'string' ? modelWindow : (route.max_input_tokens ?? modelWindow),
        );
        return declaredWindows.some((window) => window !== undefined && window > tokens) ? [name] : [];
      },
    );
    return [
      ...(every > days * 24
        ? [`probes.context_every_days is ${days}, but routes are probed only every ${every} hours`]
        : []),
      ...(oversizedModels.length > 0
        ? [`probes.daily_tokens is ${tokens}, so the context window is never tested for: ${oversizedModels.join(', ')}`]
        : []),
    ];
  },
});
