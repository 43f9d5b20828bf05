import type { TourStep } from '../panel/panel-api.ts';

/** The five steps in their order; `step-checks.ts` checks whether each has happened. */
export const STEPS: readonly Pick<TourStep, 'id' | 'title' | 'words'>[] = [
  {
    id: 'connect',
    title: 'Connect the hosting account',
    words: 'Create an API key here and copy it. Then run `/vps connect`, open the link and paste the key.',
  },
  {
    id: 'create',
    title: 'Create a server',
    words:
      'Run `/vps create`, make your choices and press Create and pay. You get the root password in a message that only you can see.',
  },
  {
    id: 'reboot',
    title: 'Reboot it',
    words: 'Run `/vps reboot` with the server’s label, as you would from your phone when on call.',
  },
  {
    id: 'lose',
    title: 'Survive a lost response',
    words:
      'Switch on “Lose the next response after the work is done”, then run `/vps create` or `/vps renew` again. The app says that it isn’t sure, checks, and reports back. You’re charged only once.',
  },
  {
    id: 'delete',
    title: 'Delete it',
    words: 'Run `/vps delete` with the label. You’ll see what will be lost, and confirm by typing the label.',
  },
];

export type StepId = TourStep['id'];
