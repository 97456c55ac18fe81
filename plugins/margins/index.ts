import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { exchangeRatesSection } from './exchange-rates.ts';
import { marginsPage } from './page.ts';
import { marginsReading } from './reading.ts';
import { readUsageCosts } from './usage-costs.ts';
import { usageFigures } from './usage-figures.ts';

/** Shows what usage costs and the resulting margin: next to usage, on a page, by command and over the API. */
export const plugin: GatewayPlugin = {
  name: 'margins',
  register({ gateway }) {
    gateway.section(exchangeRatesSection);
    gateway.page(marginsPage);
    gateway.costs(readUsageCosts, usageFigures);
    gateway.operatorReading(marginsReading);
  },
};
