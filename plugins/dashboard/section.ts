import { defineSection, type SectionValue } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { object, string } from '#core/platform/schema.ts';

export const dashboardSection = defineSection({
  name: 'dashboard',
  schema: object({ default: {} }, "Contents of customers' pages.", {
    routes: {
      enum: ['names', 'numbers', 'hidden'],
      default: 'names',
      description:
        'How customers see routes: `openai/gpt-6-sol` (names), "Route 1" by position in the list of the model (numbers), or not at all (hidden). Operators see names.',
    },
    higher_limits: string(
      { pattern: '^(mailto:|https?://)\\S+$' },
      'Where customers ask for higher limits: a mailto: or https: URL. Default: `service.contact`, if there is one.',
    ),
  }),
});

export type RouteVisibility = SectionValue<typeof dashboardSection>['routes'];

export function findHigherLimitsLink(host: Pick<Host, 'section' | 'service'>): string {
  return host.section(dashboardSection).higher_limits ?? host.service.contact ?? '';
}
