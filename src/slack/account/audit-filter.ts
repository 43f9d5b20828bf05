import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { DAY_MS } from '../../domain/time.ts';
import { option } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { utcDate } from '../kit/text.ts';
import { ACTION_GROUPS } from './action-words.ts';
import { type AuditQuery, auditQuery, OUTCOME_FILTERS } from './audit-query.ts';

export const FILTER_TITLE = 'Filter the audit log';

const SPANS = { 1: 'Last 24 hours', 7: 'Last 7 days', 30: 'Last 30 days', 365: 'Last year' } as const;
/** The time that was typed with the command. */
const TYPED = 'typed';

/** Narrows the audit down. */
export const auditFilterForm = defineModal(
  'audit_filter',
  auditQuery,
  z.object({
    person: z.string().exactOptional(),
    group: auditQuery.shape.group,
    outcome: auditQuery.shape.outcome,
    time: z.string().exactOptional(),
    server: z.string().exactOptional(),
  }),
);

type Fields = Parameters<Parameters<typeof auditFilterForm.onSubmit>[1]>[0]['fields'];

/** The form, with the filters that are on; everything in it may be left empty. */
export function auditFilterView(query: AuditQuery, origin: Origin): ModalView {
  const { since } = query;
  const typed = since === undefined ? [] : [option(`Since ${utcDate(since)}`, TYPED)];
  return auditFilterForm.view({
    origin,
    metadata: query,
    title: FILTER_TITLE,
    submit: 'Show',
    blocks: [
      auditFilterForm.userField('person', {
        label: 'Person',
        placeholder: 'Anyone',
        initial: query.actorId,
        optional: true,
      }),
      menu('group', 'Action', 'Any action', ACTION_GROUPS, query.group),
      menu('outcome', 'Outcome', 'Any outcome', OUTCOME_FILTERS, query.outcome),
      auditFilterForm.selectField('time', {
        label: 'Time',
        placeholder: 'Any time',
        options: [...typed, ...Object.entries(SPANS).map(([days, words]) => option(words, days))],
        initial: since === undefined ? undefined : TYPED,
        optional: true,
      }),
      auditFilterForm.textField('server', {
        label: 'Server',
        hint: 'A label or an ID.',
        initial: query.server,
        optional: true,
        maxLength: 300,
      }),
    ],
  });
}

function menu(
  name: 'group' | 'outcome',
  label: string,
  placeholder: string,
  choices: Readonly<Record<string, string>>,
  initial: string | undefined,
) {
  const options = Object.entries(choices).map(([value, words]) => option(words, value));
  return auditFilterForm.selectField(name, { label, placeholder, options, initial, optional: true });
}

/** What was chosen, as a query. */
export function readFilterFields(fields: Fields, was: AuditQuery, now: number): AuditQuery {
  const { person, time, ...rest } = fields;
  const days = Number(time);
  const since = time === TYPED ? was.since : days > 0 ? now - days * DAY_MS : undefined;
  return { ...rest, actorId: person, since };
}
