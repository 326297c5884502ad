// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The clocks, by which the kernel ends sleeps. Not by clock_gettime(): a program, or a library
 * that is loaded into it, may have one that tells another time, as libfaketime does. A nap to
 * such a time would last for years. So the function of the kernel's vDSO is looked up, and where
 * there is none the system call serves.
 *
 * Source: the kernel's documentation of the vDSO (vdso(7)), and the ELF specification's hash
 * table, whose second word is the number of symbols.
 */
#include "internal.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>

typedef int clock_fn(clockid_t clock, struct timespec *now);

/* What a lookup needs of the image. */
struct image {
	const Elf64_Sym *symbols;
	const char *names;
	const Elf64_Word *hash;
};

/* The tables of the image at @base, whose addresses are relative to @base. */
static struct image tables_of(uintptr_t base, const Elf64_Dyn *dynamic)
{
	struct image found = { NULL, NULL, NULL };

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		uintptr_t at = base + dynamic->d_un.d_ptr;

		if (dynamic->d_tag == DT_SYMTAB)
			found.symbols = (const Elf64_Sym *)at;
		else if (dynamic->d_tag == DT_STRTAB)
			found.names = (const char *)at;
		else if (dynamic->d_tag == DT_HASH)
			found.hash = (const Elf64_Word *)at;
	}
	return found;
}

static clock_fn *named(const char *name, uintptr_t base,
		       const struct image *image)
{
	if (!image->symbols || !image->names || !image->hash)
		return NULL;
	for (Elf64_Word i = 0; i < image->hash[1]; i++) {
		const Elf64_Sym *symbol = &image->symbols[i];

		if (symbol->st_shndx != SHN_UNDEF &&
		    !strcmp(image->names + symbol->st_name, name))
			return (clock_fn *)(base + symbol->st_value);
	}
	return NULL;
}

#ifdef __aarch64__
#define CLOCK_GETTIME "__kernel_clock_gettime"
#else
#define CLOCK_GETTIME "__vdso_clock_gettime"
#endif

static int by_system_call(clockid_t clock, struct timespec *now)
{
	return (int)lkp_syscall(SYS_clock_gettime, clock, (long)now, 0, 0, 0,
				0);
}

static clock_fn *look_up(void)
{
	int saved = errno; /* without a vDSO, getauxval() changes it */
	uintptr_t at = getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)at;
	const Elf64_Dyn *dynamic = NULL;
	uintptr_t base = at;
	struct image image;
	clock_fn *found;

	errno = saved;
	if (!head)
		return by_system_call;
	for (u32 i = 0; i < head->e_phnum; i++) {
		const Elf64_Phdr *part =
			(const Elf64_Phdr *)(at + head->e_phoff +
					     i * head->e_phentsize);

		if (part->p_type == PT_LOAD)
			base = at + part->p_offset - part->p_vaddr;
		else if (part->p_type == PT_DYNAMIC)
			dynamic = (const Elf64_Dyn *)(at + part->p_offset);
	}
	if (!dynamic)
		return by_system_call;
	image = tables_of(base, dynamic);
	found = named(CLOCK_GETTIME, base, &image);
	return found ? found : by_system_call;
}

/* Each thread that comes early looks it up, and finds the same. */
struct timespec lkp_clock(clockid_t clock)
{
	static clock_fn *read_clock;
	clock_fn *found = READ_ONCE(read_clock);
	struct timespec now = { 0 };

	if (unlikely(!found)) {
		found = look_up();
		WRITE_ONCE(read_clock, found);
	}
	if (found(clock, &now))
		by_system_call(clock, &now);
	return now;
}
