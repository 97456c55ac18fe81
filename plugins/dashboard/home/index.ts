import { fileURLToPath } from 'node:url';
import type { Server } from '@hapi/hapi';
import type { Registry } from '#core/extension/registry.ts';
import type { Page } from '#core/web/pages/page.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { describeHome } from './describe-home.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

const templatePath = (name: string) => `dashboard/home/${name}.eta`;

const pollSeconds = 10; // the rate limit changes without an event

function createHomePage(gateway: Registry): Page {
  return {
    path: '/dashboard',
    role: 'account',
    title: 'home.title',
    navigation: { label: 'home.title', icon: 'home', order: 10, place: 'main' },
    template: 'dashboard/home/page.eta',
    styles: ['dashboard/requests/requests.css', 'dashboard/dashboard.css'],
    scripts: ['uplot.js', 'dashboard/home/chart.js'],
    show: (request) => describeHome(request, gateway),
    live: {
      topics: ['requests', 'account'],
      everySeconds: pollSeconds,
      parts: {
        reminder: templatePath('reminder'),
        pass: templatePath('pass'),
        tiles: templatePath('tiles'),
        empty: templatePath('empty'),
        chart: templatePath('chart'),
        models: templatePath('models'),
        latest: templatePath('latest'),
      },
    },
  };
}

export function register({ gateway }: Server): void {
  gateway.texts(defineTexts({ en, id }));
  gateway.assets({ name: 'uplot.js', path: fileURLToPath(import.meta.resolve('uplot/dist/uPlot.iife.min.js')) });
  gateway.page(createHomePage(gateway));
}
