import type { TourStep } from '../panel/panel-api.ts';

/** The five steps in their order; `judge.ts` says when each has happened. */
export const STEPS: readonly Pick<TourStep, 'id' | 'title' | 'words'>[] = [
  {
    id: 'connect',
    title: 'Connect the hosting account',
    words: 'Create an API key here and copy it. Then type `/vps connect` and paste it into the form.',
  },
  {
    id: 'create',
    title: 'Create a server',
    words:
      'Type `/vps create`, choose, and press Create and pay. Its root password comes in a message that only you can see.',
  },
  {
    id: 'reboot',
    title: 'Reboot it',
    words: 'Type `/vps reboot` with the label of the server; whoever is on call would do it from a phone.',
  },
  {
    id: 'lose',
    title: 'Lose an answer',
    words:
      'Switch on “Lose the next answer after the work is done”, and type `/vps create` or `/vps renew` once more. The app says that it does not know, looks for it, and tells you. It is charged once.',
  },
  {
    id: 'delete',
    title: 'Delete it',
    words: 'Type `/vps delete` with the label. You are told what is lost, and type the label once more.',
  },
];

export type StepId = TourStep['id'];
