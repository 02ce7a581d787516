// The letters are those of the reader's system: nothing is fetched for them.
export { default } from 'vitepress/theme-without-fonts'
