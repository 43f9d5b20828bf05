import type { DataTableBlock, KnownBlock } from '@slack/types';
import { type Catalog, describePlan, describeRam, type Plan } from '../core/catalog.ts';
import { defineUseCase } from '../core/entry.ts';
import { describeMoney, describeMonthly } from '../core/money.ts';
import type { OnWait } from '../hosting/hosting-api.ts';
import { actions, context, type Message, section } from '../slack/kit/blocks.ts';
import { pageButtons } from '../slack/kit/button.ts';
import { defineCommand, parseNothing } from '../slack/kit/command.ts';
import { sendWaiting } from '../slack/kit/notify.ts';
import { count, escapeText, plainLabel, shorten } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { catalogPages, createButton } from './buttons.ts';
import { listOmissions } from './choices.ts';

/** Reads what can be ordered. */
const readCatalog = defineUseCase({
  name: 'catalog',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ onWait }: { onWait?: OnWait | undefined }, context): Promise<Catalog> => {
    const hosting = await context.hosting();
    return hosting.fetchCatalog({ onWait });
  },
});

export const catalog = defineCommand({
  name: 'catalog',
  usage: 'catalog',
  summary: 'Show plans, prices, locations and images',
  needs: 'viewer',
  parse: parseNothing,
  run: async (_input, request) => {
    const found = await request.execute(readCatalog, { onWait: sendWaiting(request) });
    await request.reply.send(catalogMessage(found, request.currency, 0));
  },
  actions: [catalogPages.back.on(turn), catalogPages.further.on(turn)],
});

async function turn({ page }: { page: number }, request: SlackRequest): Promise<void> {
  const found = await request.execute(readCatalog, {});
  await request.reply.replace(catalogMessage(found, request.currency, page));
}

const PLANS_PER_MESSAGE = 60;

/** Plans with their price, and the locations and images that can be chosen. */
export function catalogMessage(catalog: Catalog, currency: string, page: number): Message {
  const pages = Math.max(1, Math.ceil(catalog.plans.length / PLANS_PER_MESSAGE));
  const at = Math.min(page, pages - 1);
  const plans = catalog.plans.slice(at * PLANS_PER_MESSAGE, (at + 1) * PLANS_PER_MESSAGE);
  const title = `${count(catalog.plans.length, 'plan')}${pages > 1 ? `, part ${at + 1} of ${pages}` : ''}`;
  const around = (table: KnownBlock[]): KnownBlock[] => [
    section(`*${title}.*${currency ? '' : ' The hosting API doesn’t report a currency.'}`),
    ...table,
    section(`*Locations* (${catalog.locations.length})\n${codes(catalog.locations)}`),
    section(`*Images* (${catalog.images.length})\n${codes(catalog.images)}`),
    ...listOmissions(catalog).map((words) => context(words)),
    ...(plans.length > 0 ? [catalogControls(at, pages)] : []),
  ];
  return {
    text: `${title}, ${count(catalog.locations.length, 'location')}, ${count(catalog.images.length, 'image')}`,
    blocks: around(plans.length > 0 ? [planTable(plans, currency)] : planSections(plans, currency)),
    plainBlocks: around(planSections(plans, currency)),
  };
}

/** The price comes second: on a phone the columns after that are out of sight. */
function planTable(plans: readonly Plan[], currency: string): DataTableBlock {
  const cell = (text: string) => ({ type: 'raw_text' as const, text });
  const head = ['Plan', 'Per month', 'vCPU', 'RAM', 'Disk'].map(cell);
  const rows = plans.map((plan) => [
    cell(plainLabel(plan.code, 40)),
    cell(describeMoney(plan.monthly, plan.currency ?? currency)),
    cell(String(plan.vcpu)),
    cell(describeRam(plan.ramMb)),
    cell(`${plan.diskGb} GB`),
  ]);
  return { type: 'data_table', caption: 'Plans', page_size: 10, rows: [head, ...rows] };
}

function planSections(plans: readonly Plan[], currency: string): KnownBlock[] {
  if (plans.length === 0) return [context('No plans can be ordered right now.')];
  const lines = plans.map(
    (plan) =>
      `\`${escapeText(plainLabel(plan.code, 40))}\` ${describePlan(plan)} · *${escapeText(describeMonthly(plan.monthly, plan.currency ?? currency))}*`,
  );
  const sections: KnownBlock[] = [];
  for (let at = 0; at < lines.length; at += 20) sections.push(section(lines.slice(at, at + 20).join('\n')));
  return sections;
}

/** As many codes as one paragraph holds; the form offers the rest. */
function codes(all: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const code of all) {
    const word = `\`${escapeText(shorten(code, 75))}\``;
    length += word.length + 2;
    if (length > 1500) break;
    shown.push(word);
  }
  const rest = all.length - shown.length;
  return `${shown.join(', ') || 'none'}${rest > 0 ? ` and ${rest} more; *Create a server…* lists them all` : ''}`;
}

function catalogControls(page: number, pages: number) {
  return actions(
    createButton.element('Create a server…', {}, { style: 'primary' }),
    ...pageButtons(catalogPages, page, pages, (to) => ({ page: to })),
  );
}
