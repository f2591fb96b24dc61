select 3;

select 4
